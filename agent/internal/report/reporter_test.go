package report // inside: it uses streamTime

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gslb.internal/shared/wire"
)

// startReporter runs a reporter until the test ends or stop is called.
func startReporter(t testing.TB, edit func(*Options)) (r *Reporter, stop func()) {
	t.Helper()
	o := testOptions(t)
	edit(&o)
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the reporter did not stop")
		}
	})
	t.Cleanup(stop)
	return r, stop
}

func TestReporter_OneDeadNodeDelaysNoOther(t *testing.T) {
	dead, err := net.ListenPacket("udp", "127.0.0.1:0") // takes datagrams, answers none, refuses streams
	if err != nil {
		t.Fatal(err)
	}
	defer dead.Close()
	n := startNode(t, gossipKey)
	var r *Reporter
	var stop func()
	for try := 1; ; try++ { // a busy machine may be the slow one, but not each time
		heard, begun := n.count(wire.TypeHeartbeat), time.Now()
		r, stop = startReporter(t, func(o *Options) {
			o.Nodes = []string{dead.LocalAddr().String(), "no-such-host.invalid:7946", n.addr}
		})
		eventually(t, "the living node hears a heartbeat", func() bool { return n.count(wire.TypeHeartbeat) > heard })
		took := time.Since(begun)
		if took <= streamTime { // a Hello to the dead node waits that long
			break
		}
		if try == 5 {
			t.Errorf("it took %s", took)
			break
		}
		stop()
	}
	eventually(t, "it is shown as connected", func() bool { return r.Nodes()[2].Connected })
	eventually(t, "the name that is none is told", func() bool { return r.Nodes()[1].LastError != "" })
	if s := r.Nodes(); s[0].Connected || s[1].Connected {
		t.Errorf("states %+v", s)
	}
	r.ReportChange(testBackend())
	eventually(t, "the living node hears the transition", func() bool { return n.count(wire.TypeTransition) > 0 })
	stop()
	eventually(t, "the living node hears the goodbye", func() bool { return n.count(wire.TypeDeregister) > 0 })
}

// This test uses real sockets. TestLink_NodeRestartIsNoticedWithin3s tests the limit of 3 s in virtual time.
func TestReporter_NodeRestartOnItsPortIsNoticed(t *testing.T) {
	n := startNode(t, gossipKey)
	r, _ := startReporter(t, func(o *Options) { o.Nodes = []string{n.addr} })
	eventually(t, "connected", func() bool { return r.Nodes()[0].Connected })
	n.stop()
	again := startNodeAs(t, n.id, gossipKey, n.addr)
	eventually(t, "enrolled again", func() bool { return again.count(wire.TypeEnrol) > 0 })
}

func TestNew_NamesWhatIsWrong(t *testing.T) {
	for _, try := range []struct {
		name string
		edit func(*Options)
		want string
	}{
		{"no key", func(o *Options) { o.Keys = nil }, "encryption_key"},
		{"short key", func(o *Options) { o.Keys = [][]byte{gossipKey[1:]} }, "encryption_key"},
		{"no identity", func(o *Options) { o.Identity = nil }, "Identity"},
		{"data_dir is a file", func(o *Options) {
			o.DataDir = filepath.Join(o.DataDir, "f")
			os.WriteFile(o.DataDir, nil,
				0o600)
		}, "data_dir"},
	} {
		o := testOptions(t)
		try.edit(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), try.want) {
			t.Errorf("%s: %v", try.name, err)
		}
	}
}
