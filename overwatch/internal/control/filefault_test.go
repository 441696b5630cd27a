package control // inside: it uses fileFault and WatchFile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/settings"
)

const validFile = `
mode: overwatch
overwatch:
  identity: {node_id: ns1, region: eu}
  gossip: {bind_address: "127.0.0.1:0", encryption_key: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=}
dns: {listen_address: "127.0.0.1:0", zones: [gslb.test]}
`

func TestWatchFile_AFaultEndsWhenTheFileIsValidAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "overwatch.yaml")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := &Plane{o: Options{ConfigPath: path}}
		ctx, stop := context.WithCancel(t.Context())
		go p.WatchFile(ctx)
		want := func(what, text string) {
			t.Helper()
			time.Sleep(2 * fileCheck) // virtual
			synctest.Wait()
			if at, reason := p.ConfigFault(); at != path || !strings.Contains(reason, text) || (reason == "") != (text == "") {
				t.Errorf("%s: %s: %q, want %q", what, at, reason, text)
			}
		}
		write("dns: [")
		_, err := Load(path)
		if err == nil {
			t.Fatal("the broken file is valid")
		}
		want("before a reload", "")
		p.fault.set(err, err)
		want("after a reload", oneLine(err.Error()))
		write(validFile)
		want("corrected", "")
		p.fault.set(nil, errors.New("the store is full"))
		want("a valid file that a reload could not put into force", "the store is full")
		p.fault.set(nil, nil)
		want("after a successful reload", "")
		stop()
		synctest.Wait()
	})
}

func TestOneLine_IsBounded(t *testing.T) {
	problems := settings.Problems{{Key: "a", Message: strings.Repeat("\u00fc", maxFault)}, {Key: "b", Message: "second"}}
	if got := oneLine(problems.Error()); strings.Contains(got, "\n") || len(got) > maxFault+len("...") ||
		!strings.HasSuffix(got, "...") {
		t.Errorf("%q", got)
	}
}
