package replication_test

import (
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// declareServers declares the backends as servers without agents on all nodes. The first node checks them often, the
// other nodes every five minutes.
func declareServers(s *testbed.Site) {
	s.Agents = nil
	for i, n := range s.Nodes {
		h := s.Timing.Check()
		if i > 0 {
			h.Interval = 5 * time.Minute
		}
		for _, b := range s.Backends {
			n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{Service: testbed.AppName,
				Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: h})
		}
	}
}

// A failure that one node sees makes the other nodes check the backend long before their next check.
func TestHints_AFailureOfOneNodeIsCheckedByAll(t *testing.T) {
	t.Parallel()
	s := replicating(t, 2)
	declareServers(s)
	s.StartPrograms(t)
	alike(t, s.Nodes...) // all nodes reach each other
	for _, n := range s.Nodes {
		s.Status(t, n, s.Backends[0], testbed.StartBound, testbed.WantSound)
	}
	killed := testbed.Kill(t, s.Backends[0])
	for _, n := range s.Nodes {
		s.Status(t, n, s.Backends[0], 20*time.Second, testbed.StatusIs(api.EffectiveUnhealthy, false))
		t.Logf("%s: unhealthy %s after kill -9", n.Name, time.Since(killed).Round(time.Millisecond))
	}
	if sent := testbed.Metric(t, s.Nodes[0], `gslb_overwatch_hints_total{outcome="sent"}`); sent < 2 {
		t.Errorf("%v hints are sent", sent)
	}
	if received := testbed.Metric(t, s.Nodes[1], `gslb_overwatch_hints_total{outcome="received"}`); received < 1 {
		t.Errorf("%v hints are received", received)
	}
}
