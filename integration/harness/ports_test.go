package harness

import (
	"net"
	"net/netip"
	"runtime"
	"testing"
)

// A port belongs to one run as long as the run's cluster may start something on it, also while nothing listens there.
func TestReserve_APortIsNobodyElsesUntilTheClusterIsOver(t *testing.T) {
	r, err := reserve([]netip.Addr{localhost}, "tcp")
	if err != nil {
		t.Fatal(err)
	}
	r.release()
	if claim(r.port) {
		t.Errorf("port %d is reserved twice in this process", r.port)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if l, err := net.Listen("unix", claimOf(r.port)); err == nil {
		_ = l.Close()
		t.Errorf("another process may take port %d while its program is stopped", r.port)
	}
	unclaim(r.port)
	theirs, err := net.Listen("unix", claimOf(r.port))
	if err != nil {
		t.Fatalf("port %d is still claimed: %v", r.port, err)
	}
	defer theirs.Close()
	other := r.port ^ 1
	if their, err := net.Listen("unix", claimOf(other)); err == nil {
		defer their.Close()
		if claim(other) {
			t.Errorf("port %d is another process's, and claimed here too", other)
		}
	}
}
