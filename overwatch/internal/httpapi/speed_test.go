package httpapi

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

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

// TestReads_TenThousandServersWithinTheBound reads the largest page and all
// pages; the bound is that of one page, with room for a busy machine.
func TestReads_TenThousandServersWithinTheBound(t *testing.T) {
	w := tenThousand(t)
	for _, path := range []string{
		"/api/v1/servers?limit=1000&offset=9000", "/api/v1/overwatch/backends?limit=1000", "/api/v1/health/servers?limit=1000", "/api/v1/health/regions", "/api/v1/overwatch/stats",
	} {
		best := deadline
		for range 5 {
			started := time.Now()
			if r := w.send("GET", path, ""); r.status != http.StatusOK {
				t.Fatalf("%s: %d", path, r.status)
			}
			best = min(best, time.Since(started))
		}
		t.Logf("%s: %v", path, best)
		if best > 100*time.Millisecond {
			t.Errorf("%s takes %v", path, best)
		}
	}
	list, err := w.client.Servers(t.Context())
	if err != nil || len(list.Servers) != 10_000 {
		t.Errorf("%d servers, %v", len(list.Servers), err)
	}
}
