package integration_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// The whole way with real processes: an agent's probe, gossip, registry, published view, DNS answer, and back.
func TestFailover_AgentProbeToDNSAnswerAndBack(t *testing.T) {
	s := startSite(t, 2, 3)
	victim := s.backends[0]
	for _, n := range s.nodes {
		for _, b := range s.backends {
			s.answered(t, n, b.At.Addr(), s.began, time.Second)
		}
	}

	killed, err := victim.Kill()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range s.nodes {
		last := s.gone(t, n, victim.At.Addr(), killed, s.Timing.Detection())
		t.Logf("%s: last answer with %s %s after kill -9, allowed are %s", n.Name, victim.At.Addr(), last.Sub(killed).Round(time.Millisecond), s.Timing.Detection())
		s.status(t, n, victim, time.Second, func(v api.Backend) error { return wantStatus(v, api.EffectiveUnhealthy, false) })
	}

	start(t, victim)
	until(t, startBound, "the backend", victim.Serving)
	serving := time.Now()
	for _, n := range s.nodes {
		first := s.answered(t, n, victim.At.Addr(), serving, s.Timing.Recovery())
		t.Logf("%s: first answer with it %s after it served again, allowed are %s", n.Name, first.Sub(serving).Round(time.Millisecond), s.Timing.Recovery())
	}
	for _, n := range s.nodes {
		s.noFailures(t, n, s.began)
	}
}

// A backend that lives but says that it is not well leaves the answers like a dead one, and its error is shown.
func TestFailover_BackendThatCallsItselfUnwellLeavesAndReturns(t *testing.T) {
	s := startSite(t, 1, 2)
	n, victim := s.nodes[0], s.backends[0]

	sick := time.Now()
	tell(t, victim, "/unhealthy")
	s.gone(t, n, victim.At.Addr(), sick, s.Timing.Detection())
	v := s.status(t, n, victim, time.Second, func(v api.Backend) error { return wantStatus(v, api.EffectiveUnhealthy, false) })
	if v.Reason == "" {
		t.Error("the node gives no reason for an unhealthy backend")
	}

	well := time.Now()
	tell(t, victim, "/healthy")
	s.answered(t, n, victim.At.Addr(), well, s.Timing.Recovery())
	s.noFailures(t, n, s.began)
}

// A backend that no agent watches is found by the node's own checks.
func TestFailover_StaticBackendIsCheckedByTheNodeItself(t *testing.T) {
	s := newSite(t, 1, 2)
	n, victim := s.nodes[0], s.backends[0]
	s.agents = nil
	n.File.Overwatch.Validation.CheckInterval = time.Minute // of servers without an interval of their own
	for _, b := range s.backends {
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{
			Service: appName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
		})
		start(t, b)
		until(t, startBound, "the backend", b.Serving)
	}
	start(t, n)
	s.ready(t, n)
	s.watchAnswers(t)
	for _, b := range s.backends {
		s.answered(t, n, b.At.Addr(), s.began, s.Timing.Recovery())
	}

	killed, err := victim.Kill()
	if err != nil {
		t.Fatal(err)
	}
	s.gone(t, n, victim.At.Addr(), killed, s.Timing.Detection())
	start(t, victim)
	until(t, startBound, "the backend", victim.Serving)
	s.answered(t, n, victim.At.Addr(), time.Now(), s.Timing.Recovery())
	s.noFailures(t, n, s.began)
}

// tell sends a backend one of its two orders.
func tell(t *testing.T, b *harness.Backend, order string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.At.String()+order, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true // the backend that kept a connection may be another process now
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s", order, resp.Status)
	}
}
