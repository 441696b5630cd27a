//go:build !race

package httpapi // inside: it shares world_test.go

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// readCPU is the maximum processor time to create, send and receive the largest page of 10 000 servers.
const readCPU = 100 * time.Millisecond

// tenThousand declares 10 000 servers in 1 000 services.
func tenThousand(t *testing.T) *world {
	w := newWorld(t)
	var ids []string
	for i := range 10_000 {
		ids = append(ids, fmt.Sprintf("s%04d.example:192.0.2.%d:80", i/10, 1+i%10))
	}
	w.declare(ids...)
	return w
}

// cpuTime returns the processor time of this process, which does not depend on other load of the machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestCPU_ReadsOfTenThousandServers reads the largest page of each list, and all pages of one.
func TestCPU_ReadsOfTenThousandServers(t *testing.T) {
	w := tenThousand(t)
	for _, path := range []string{
		"/api/v1/servers?limit=1000&offset=9000", "/api/v1/overwatch/backends?limit=1000",
		"/api/v1/health/servers?limit=1000", "/api/v1/health/regions", "/api/v1/overwatch/stats",
	} {
		best := time.Hour
		for range 5 {
			before := cpuTime(t)
			if r := w.send("GET", path, ""); r.status != http.StatusOK {
				t.Fatalf("%s: %d", path, r.status)
			}
			best = min(best, cpuTime(t)-before)
		}
		t.Logf("%s: %v", path, best)
		if best > readCPU {
			t.Errorf("%s takes %v of the processor, allowed are %v", path, best, readCPU)
		}
	}
	list, err := w.client.Servers(t.Context())
	if err != nil || len(list.Servers) != 10_000 {
		t.Errorf("%d servers, %v", len(list.Servers), err)
	}
}
