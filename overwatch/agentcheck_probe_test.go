package overwatch // inside: it shares model_history_test.go

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/reduce"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/validation"
	"gslb.internal/shared/check"
)

// unchanging is a set of targets that never change.
type unchanging []registry.CheckTarget

func (unchanging) CheckTargetsGeneration() uint64         { return 1 }
func (f unchanging) CheckTargets() []registry.CheckTarget { return f }

// The checks of a hostile agent make a node send only requests for a path, to the backend and only if allowed. The
// check result depends on the allowed part of the check.
func TestAgentChecks_WhatIsSentForAHostileAgent(t *testing.T) {
	var mu sync.Mutex
	var asked []*http.Request
	var elsewhere int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r)
		_, _ = w.Write([]byte(strings.Repeat("a", 1<<20)))
	}))
	t.Cleanup(server.Close)
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	other, err := net.Listen("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.9"), at.Port()).String())
	if err != nil {
		t.Skip("127.0.0.9 is no address here:", err)
	}
	secret := &http.Server{ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			elsewhere++
		})}
	go func() { _ = secret.Serve(other) }()
	t.Cleanup(func() { secret.Close() })

	hostile := func(own bool, change func(*check.Spec, *check.Detail)) check.Spec {
		spec := reduce.Connection()
		d := check.Detail{BodyMatches: "(?:" + strings.Repeat("a", 225) + "){1000}b", BodyContains: "secret"}
		spec.Type, spec.Path = check.HTTP, "/up"
		change(&spec, &d)
		spec.Detail = d.Details()
		made, _ := reduce.Check(spec, own)
		made.Interval, made.Timeout = 0, 0
		return made
	}
	specs := map[string]check.Spec{
		"patterns":  hostile(true, func(*check.Spec, *check.Detail) {}),
		"headers":   hostile(true, func(_ *check.Spec, d *check.Detail) { d.Headers = "Metadata-Flavor: Google" }),
		"method":    hostile(true, func(_ *check.Spec, d *check.Detail) { d.Method = "DELETE" }),
		"elsewhere": hostile(false, func(*check.Spec, *check.Detail) {}),
		"address":   hostile(true, func(s *check.Spec, _ *check.Detail) { s.Address = netip.MustParseAddr("127.0.0.9") }),
	}
	var targets unchanging
	for service, spec := range specs {
		targets = append(targets, registry.CheckTarget{ID: registry.ID{Service: service, Address: at.Addr(), Port: at.Port()},
			Spec: spec})
	}
	verdicts := make(chan registry.CheckResult, 100)
	v, err := validation.New(validation.Options{
		Targets: targets, Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop(),
		Settings: validation.Settings{Enabled: true, Interval: time.Minute, Timeout: 10 * time.Second},
		Report:   func(_ context.Context, v registry.CheckResult) error { verdicts <- v; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	for range targets {
		select {
		case got := <-verdicts:
			if got.Outcome != check.Success {
				t.Errorf("%s: %s %s", got.ID.Service, got.Outcome, got.Err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("not every backend was checked")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0].Method != http.MethodGet || asked[0].URL.Path != "/up" ||
		asked[0].Header.Get("Metadata-Flavor") != "" {
		t.Errorf("asked for %v", asked)
	}
	if elsewhere != 0 {
		t.Errorf("another address was asked %d times", elsewhere)
	}
}
