package replication_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// explained waits until the explanation of a node has a factor with a text.
func explained(t *testing.T, n *harness.Node, text string) {
	t.Helper()
	testbed.Until(t, reachBound, n.Name+" to explain "+text, func(ctx context.Context) error {
		r, err := n.Client.TestRouting(ctx, api.RoutingTestRequest{Domain: testbed.AppName, ClientIP: "127.0.0.1"})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.Result.Factors, func(f api.RoutingFactor) bool { return strings.Contains(f.Value, text) }) {
			return fmt.Errorf("factors %+v", r.Result.Factors)
		}
		return nil
	})
}

// With agreement of two nodes, a node whose own check of a healthy backend fails alone does not remove the backend. A
// real failure is confirmed long before agree_within. Without other nodes, a condition reports it.
func TestAgreement_AFailureOfOneNodeAloneRemovesNothing(t *testing.T) {
	t.Parallel()
	s := replicating(t, 3)
	s.Agents = nil
	alone, healthy, dead := s.Nodes[0], s.Backends[0], s.Backends[1]
	probed := s.Backends[2] // the first node checks the healthy backend at this address
	for _, n := range s.Nodes {
		n.File.Overwatch.Validation.Agree, n.File.Overwatch.Validation.AgreeWithin = 2, 10*time.Minute
		for _, b := range s.Backends[:2] {
			h := s.Timing.Check()
			if n == alone && b == healthy {
				h.Address = probed.At.Addr().String()
			}
			n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{Service: testbed.AppName,
				Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: h})
		}
	}
	s.StartPrograms(t)
	alike(t, s.Nodes...) // all nodes reach each other
	for _, n := range s.Nodes {
		for _, b := range s.Backends[:2] {
			s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
		}
	}
	testbed.Kill(t, probed)
	explained(t, alone, "votes: ow-2 healthy, ow-3 healthy")
	v := s.Status(t, alone, healthy, time.Second, testbed.StatusIs(api.EffectiveHealthy, true))
	if v.ValidationVotes == nil || !strings.HasSuffix(*v.ValidationVotes, "votes: ow-2 healthy, ow-3 healthy") {
		t.Errorf("votes %v", v.ValidationVotes)
	}
	killed := testbed.Kill(t, dead)
	for _, n := range s.Nodes {
		s.Status(t, n, dead, 20*time.Second, testbed.StatusIs(api.EffectiveUnhealthy, false))
		t.Logf("%s: unhealthy %s after kill -9", n.Name, time.Since(killed).Round(time.Millisecond))
		explained(t, n, "confirmed by other nodes")
	}
	s.Status(t, alone, healthy, time.Second, testbed.StatusIs(api.EffectiveHealthy, true))
	for _, n := range s.Nodes[1:] {
		testbed.Stop(t, n)
	}
	testbed.Until(t, 90*time.Second, "the condition no_agreement", func(ctx context.Context) error {
		r, err := alone.Client.Conditions(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(r.Conditions, func(c api.Condition) bool { return c.Kind == api.NoAgreement }) {
			return errors.New("it is not listed")
		}
		return nil
	})
}
