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

// This test uses a real backend. TestRun_TellsEveryChangeOfStateAtOnceAndNothingElse tests the time in virtual time.
func TestRun_FailureOfARealBackendIsTold(t *testing.T) {
	var broken atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	const interval = 5 * time.Second // and timeout, which a machine that stalls must not reach
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
	broken.Store(true)
	if b := <-changes; b.Claim != wire.ClaimUnhealthy || b.LastError != "status 503 Service Unavailable" {
		t.Errorf("%+v", b)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
