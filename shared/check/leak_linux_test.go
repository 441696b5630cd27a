package check_test

import (
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gslb.internal/shared/check"
)

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// rawServer accepts connections and writes answer to each. It closes a connection when the client closes it, or at the
// end of the test.
func rawServer(t *testing.T, answer string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	t.Cleanup(func() { listener.Close(); open.Wait() })
	open.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				io.WriteString(conn, answer)
				io.Copy(io.Discard, conn)
			})
		}
	})
	return listener
}

func TestProbe_LeavesNoDescriptorAndNoGoroutine(t *testing.T) {
	answers := map[string]string{
		"silence":       "",
		"garbage":       strings.Repeat("\x16\x03\x01\x7f", 1<<12),
		"half a body":   "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
		"loop":          "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
		"good":          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"endless":       "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", check.MaxBody+1<<16),
		"a huge header": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20),
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := rawServer(t, answer)
			short := func(s *check.Spec) { s.Timeout = 20 * time.Millisecond }
			probe(t, check.HTTP, addrOf(server), short) // creates objects with the lifetime of the process
			goroutines, files := runtime.NumGoroutine(), descriptors(t)
			for range 20 {
				probe(t, check.HTTP, addrOf(server), short)
				probe(t, check.HTTPS, addrOf(server), short)
				probe(t, check.TCP, addrOf(server), short)
			}
			// Both sides of a connection end shortly after the probe returned.
			deadline := time.Now().Add(30 * time.Second)
			for runtime.NumGoroutine() > goroutines || descriptors(t) > files {
				if time.Now().After(deadline) {
					t.Fatalf("goroutines %d, were %d; descriptors %d, were %d",
						runtime.NumGoroutine(), goroutines, descriptors(t), files)
				}
				runtime.Gosched()
			}
		})
	}
}

// The test uses the real limit of the process.
//
// Fault 27.
func TestProbe_WithoutDescriptorsSaysNothingAndRecovers(t *testing.T) {
	server := rawServer(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	wantSuccess(t, probe(t, check.HTTP, addrOf(server), nil))
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []check.Type{check.TCP, check.HTTP, check.HTTPS} {
		r := func() check.Result {
			none := syscall.Rlimit{Cur: 0, Max: limit.Max}
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
				t.Fatal(err)
			}
			defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
			return probe(t, kind, addrOf(server), nil)
		}()
		if r.Outcome != check.Unknown || !strings.Contains(r.Err, "too many open files") {
			t.Errorf("%s: %s (%s), want unknown", kind, r.Outcome, r.Err)
		}
	}
	wantSuccess(t, probe(t, check.HTTP, addrOf(server), nil))
}
