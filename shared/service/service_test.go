package service // inside: keep_linux_test.go shares its helpers

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// manager listens like a service manager.
func manager(t *testing.T) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

// told returns the next message to the manager, or "" if none arrives for a while.
func told(t *testing.T, conn *net.UnixConn, within time.Duration) string {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(within))
	b := make([]byte, 256)
	n, err := conn.Read(b)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestStates(t *testing.T) {
	conn := manager(t)
	for _, c := range []struct {
		tell func() error
		want string
	}{{Ready, "READY=1"}, {Reloading, "RELOADING=1"}, {Stopping, "STOPPING=1"}} {
		if err := c.tell(); err != nil {
			t.Fatal(err)
		}
		if got := told(t, conn, 30*time.Second); got != c.want {
			t.Errorf("told %q, want %q", got, c.want)
		}
	}
}

func TestWithoutAManagerNothingHappens(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	if err := errors.Join(Ready(), Reloading(), Stopping(), Watch(t.Context(), nil)); err != nil {
		t.Error(err)
	}
}

func TestABrokenEnvironmentIsNamed(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "elsewhere")
	if Ready() == nil {
		t.Error("a relative path was taken")
	}
	t.Setenv("NOTIFY_SOCKET", "/nonexistent/socket")
	if Ready() == nil {
		t.Error("a socket that is not there was taken")
	}
	for _, text := range []string{"soon", "-1", "0", "99999999999999999999"} {
		t.Setenv("WATCHDOG_USEC", text)
		if Watch(t.Context(), nil) == nil {
			t.Errorf("WATCHDOG_USEC=%s was taken", text)
		}
	}
}

func TestWatch_TellsOnlyWhileWell(t *testing.T) {
	conn := manager(t)
	t.Setenv("WATCHDOG_USEC", "30000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, stop := context.WithCancel(t.Context())
	var unwell atomic.Bool
	asked := make(chan struct{}, 100) // while unwell
	ended := make(chan error, 1)
	go func() {
		ended <- Watch(ctx, func(context.Context) error {
			if !unwell.Load() {
				return nil
			}
			select {
			case asked <- struct{}{}:
			default: // enough for this test
			}
			return errors.New("stuck")
		})
	}()
	for range 3 {
		if got := told(t, conn, 30*time.Second); got != "WATCHDOG=1" {
			t.Fatalf("told %q", got)
		}
	}
	unwell.Store(true)
	<-asked
	for told(t, conn, 100*time.Millisecond) != "" { // earlier messages
	}
	for len(asked) > 0 {
		<-asked
	}
	for range 3 {
		<-asked
	}
	if got := told(t, conn, time.Millisecond); got != "" {
		t.Errorf("unwell, and told %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWatch_IsForThisProcessOnly(t *testing.T) {
	manager(t)
	t.Setenv("WATCHDOG_USEC", "1000")
	t.Setenv("WATCHDOG_PID", "1")
	if err := Watch(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
