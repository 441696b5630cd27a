package agent // inside: it uses notices and outlook

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gslb.internal/shared/wire"
)

// notice runs --notify and returns its output and error.
func notice(n notification, configPath string) (string, error) {
	var out bytes.Buffer
	err := n.do(configPath, &out)
	return out.String(), err
}

// --notify changes the set of draining backends: all, one, and none. The agent reads the same set from the file.
func TestNotify_ChangesWhatDrains(t *testing.T) {
	s := newSite(t)
	if err := os.Mkdir(s.dataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dataDir, noticesName)
	_, err := notice(notification{state: noticeDraining, backend: "none"}, s.config)
	if err == nil || !strings.Contains(err.Error(), "it has ") {
		t.Fatalf("an unknown backend: %v", err)
	}
	_, known, _ := strings.Cut(err.Error(), "it has ")
	id, _, _ := strings.Cut(known, ", ")
	service, at, _ := strings.Cut(id, ":")
	addr := netip.MustParseAddrPort(at)
	b := &wire.Backend{Service: service, Address: addr.Addr(), Port: addr.Port()}
	other := &wire.Backend{Service: service, Address: addr.Addr(), Port: addr.Port() + 1}
	for _, step := range []struct {
		n        notification
		refused  bool
		one, all bool
	}{
		{n: notification{state: noticeReady}},
		{n: notification{state: noticeDraining, backend: id}, one: true},
		{n: notification{state: noticeDraining, backend: id}, one: true},
		{n: notification{state: noticeReady, backend: id}},
		{n: notification{state: noticeDraining}, one: true, all: true},
		{n: notification{state: noticeReady, backend: id}, refused: true, one: true, all: true},
		{n: notification{state: "gone"}, refused: true, one: true, all: true},
		{n: notification{state: noticeReady}},
	} {
		if out, err := notice(step.n, s.config); err != nil != step.refused {
			t.Errorf("%+v: %s, %v", step.n, out, err)
		}
		now, err := loadNotices(path)
		if err != nil || now.has(b) != step.one || now.has(other) != step.all {
			t.Errorf("%+v: %+v, %v", step.n, now, err)
		}
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("an empty set leaves a file")
	}
}

// A damaged file causes an error with a remedy, and the current drains continue.
func TestNotices_ADamagedFileChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), noticesName)
	for name, content := range map[string]string{"no JSON": "draining", "too large": strings.Repeat(" ", maxNotices+1)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadNotices(path); err == nil || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("%s: %v", name, err)
		}
		view := &outlook{}
		before := &notices{All: true}
		view.notices.Store(before)
		r := &reload{view: view, notices: noticeFile{path: path}}
		if r.readNotices() || view.notices.Load() != before {
			t.Errorf("%s: it changed the drains", name)
		}
	}
}
