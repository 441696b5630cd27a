package monitor // inside: it shares the rig of monitor_test.go

import (
	"cmp"
	"context"
	"flag"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/shared/logging/logtest"
	"gslb.internal/shared/wire"
)

// idleRun is the duration of the tests with real servers.
var idleRun = flag.Duration("idle", 0, "how long to keep idle connections to real servers; 200s has three idle "+
	"timeouts of each; 0: not at all")

// learnedIn is the time in which each server with an idle timeout has two.
const learnedIn = 3 * time.Minute

// Idle connections to real servers cause no report of unhealthy in three idle timeouts of each. The end of the server
// is found between two checks, which are a minute apart.
func TestConnection_RealServers(t *testing.T) {
	if *idleRun == 0 {
		t.Skip("-idle=200s runs it, as make test-long does")
	}
	for name, server := range realServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keepIdle(t, server)
		})
	}
}

func keepIdle(t *testing.T, server realServer) {
	t.Helper()
	port := freePort(t)
	at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
	kill := sync.OnceFunc(server.start(t, port, openDir(t)))
	t.Cleanup(kill)
	awaitServer(t, at)
	b := Backend{Service: "app.example.org", Address: at.Addr(), Port: at.Port(), Weight: 1, WatchConnection: true,
		Check: server.spec()}
	var log logtest.Buffer
	r := &rig{registry: prometheus.NewRegistry()}
	var err error
	r.Monitor, err = New(Options{Backends: []Backend{b}, Registerer: r.registry, Logger: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, changes := make(chan struct{}), make(chan wire.Backend, 100)
	go func() {
		defer close(ended)
		_ = r.Run(ctx, func(b wire.Backend) { r.changed(b); changes <- b })
	}()
	defer func() { cancel(); <-ended }()
	<-time.After(*idleRun)
	if found := r.unhealthyAt(); !found.IsZero() {
		t.Errorf("a false report at %s", found)
	}
	checks := r.Checks()
	killed := time.Now()
	kill()
	most := cmp.Or(server.most, time.Second)
	for late := time.After(most); r.unhealthyAt().IsZero() && time.Since(killed) < most; {
		select {
		case <-changes:
		case <-late:
		}
	}
	took := r.unhealthyAt().Sub(killed)
	t.Logf("%d checks; unhealthy %s after the end; %s", checks, took.Round(time.Millisecond), log.String())
	if took < 0 || took > most {
		t.Errorf("unhealthy %s after the end, at most %s are allowed", took, most)
	}
	learned := strings.Contains(log.String(), "ends idle connections after this time")
	if *idleRun >= learnedIn && server.learns != learned {
		t.Errorf("an idle timeout is learned: %t", learned)
	}
}

// openDir returns an empty directory that a program of another user may use.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "idle") //nolint:usetesting // only root may use the directories of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// freePort returns a port of loopback that is free now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// awaitServer returns when a server accepts connections.
func awaitServer(t *testing.T, at netip.AddrPort) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		conn, err := dialTCP(t.Context(), at)
		if err == nil {
			_ = conn.Close() // nothing can be lost
			return
		}
		time.Sleep(10 * time.Millisecond) // real: the start of a real program
	}
	t.Fatalf("no server at %s", at)
}
