package monitor_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/agent/internal/monitor"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// With a real backend and real time: between a backend's failing and the report lie at most one interval and one check.
func TestRun_FailureOfARealBackendIsToldWithinItsCheckTime(t *testing.T) {
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	const interval = 2 * time.Second // and timeout, which a machine that stalls must not reach
	m, err := monitor.New(monitor.Options{
		Backends: []monitor.Backend{{Service: "app.test", Address: at.Addr(), Port: at.Port(), Weight: 1,
			Check: check.Spec{Type: check.HTTP, Path: "/", Interval: interval, Timeout: interval, FailureThreshold: 1,
				SuccessThreshold: 1}}},
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	changes := make(chan wire.Backend, 10)
	ended := make(chan error)
	go func() { ended <- m.Run(ctx, func(b wire.Backend) { changes <- b }) }()
	if b := <-changes; b.Claim != wire.ClaimHealthy {
		t.Fatalf("first %+v", b)
	}
	start := time.Now()
	broken.Store(true)
	b := <-changes
	took := time.Since(start)
	if b.Claim != wire.ClaimUnhealthy || b.LastError != "status 503 Service Unavailable" {
		t.Errorf("%+v", b)
	}
	t.Logf("told after %s", took)
	if took > interval+10*time.Second { // unloaded it is a few milliseconds over; CI machines are not
		t.Errorf("took %s", took)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
