package monitor // inside: it shares the rig of monitor_test.go

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

// runIdle runs the tests with real servers, whose idle timeouts take minutes.
var runIdle = flag.Bool("idle", false, "test idle connections to real servers, for four minutes")

// idleRun includes three idle timeouts of nginx, which has 60 s by default.
const idleRun = 3*60*time.Second + 20*time.Second

// realServer is a program that answers HTTP.
type realServer struct {
	learns bool // the program ends idle connections
	// start starts the program at a port of loopback. kill ends it.
	start func(t *testing.T, port int) (kill func())
}

// realServers are the tested programs, with their default timeouts.
var realServers = map[string]realServer{
	"nginx":  {true, startNginx},
	"python": {false, startPython},
	"go": {true, func(t *testing.T, port int) func() {
		server := &http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), ReadHeaderTimeout: 20 * time.Second,
			Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		go func() { _ = server.ListenAndServe() }() // ends with kill
		return func() { _ = server.Close() }
	}},
}

func startNginx(t *testing.T, port int) func() {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log stderr;\nevents {}\n"+
		"http { access_log off; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; "+
		"uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;\nserver { listen 127.0.0.1:%[2]d; return 200 ok; } }\n", dir, port)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return startProgram(t, "nginx", "-p", dir, "-c", file, "-e", "stderr")
}

func startPython(t *testing.T, port int) func() {
	t.Helper()
	return startProgram(t, "python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", t.TempDir(),
		fmt.Sprint(port))
}

// startProgram starts a program. A missing program skips the test, and fails it in CI.
func startProgram(t *testing.T, name string, args ...string) (kill func()) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + name); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() } // it ends by the signal
}

// Idle connections to real servers cause no report of unhealthy in three idle timeouts of each. The end of the server
// is found between two checks.
func TestConnection_RealServers(t *testing.T) {
	if !*runIdle {
		t.Skip("-idle runs it for four minutes, as make test-long does")
	}
	for name, server := range realServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			kill := server.start(t, port)
			defer kill()
			at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(port))
			awaitServer(t, at)
			r := newRig(t, outcomes(s))
			w := r.list()[0]
			b := Backend{Service: "app.example.org", Address: at.Addr(), Port: at.Port(), Weight: 1, WatchConnection: true,
				Check: check.Spec{Type: check.HTTP, Path: "/", Interval: time.Minute, Timeout: 2 * time.Second,
					FailureThreshold: 3, SuccessThreshold: 2}}
			prober, err := check.NewProber(b.Check, at, "test")
			if err != nil {
				t.Fatal(err)
			}
			*r.watches.Load() = []*watch{newWatch(b, prober, w.count, w.log)}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = r.Run(ctx, r.changed)
			}()
			time.Sleep(idleRun) // real: idle timeouts of real programs
			if found := r.unhealthyAt(); !found.IsZero() {
				t.Errorf("a false report at %s", found)
			}
			killed := time.Now()
			kill()
			for r.unhealthyAt().IsZero() && time.Since(killed) < 30*time.Second {
				time.Sleep(time.Millisecond) // real: the end of a real program
			}
			took := r.unhealthyAt().Sub(killed)
			t.Logf("unhealthy %s after the end", took)
			if took < 0 || took > 10*time.Second {
				t.Errorf("unhealthy %s after the end", took)
			}
			cancel()
			<-ended
			t.Logf("%d checks; %s", r.Checks(), r.log.String())
			learned := strings.Count(r.log.String(), "ends idle connections after this time")
			if server.learns != (learned > 0) {
				t.Errorf("an idle timeout is learned %d times", learned)
			}
		})
	}
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
