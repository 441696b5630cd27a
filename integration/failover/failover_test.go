package failover_test

import (
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The complete path with real processes: the agent's check, gossip, registry, published view, DNS answer, and the
// recovery.
func TestFailover_AgentProbeToDNSAnswerAndBack(t *testing.T) {
	s := testbed.StartSite(t, 2, 3)
	victim := s.Backends[0]
	for _, n := range s.Nodes {
		for _, b := range s.Backends {
			s.Answered(t, n, b.At.Addr(), s.Began, time.Second)
		}
	}

	killed := testbed.Kill(t, victim)
	for _, n := range s.Nodes {
		last := s.Gone(t, n, victim.At.Addr(), killed, s.Timing.Detection())
		t.Logf("%s: last answer with %s %s after kill -9, allowed are %s", n.Name, victim.At.Addr(),
			last.Sub(killed).Round(time.Millisecond), s.Timing.Detection())
		s.Status(t, n, victim, time.Second, testbed.StatusIs(api.EffectiveUnhealthy, false))
	}

	testbed.Start(t, victim)
	testbed.Until(t, testbed.StartBound, "the backend", victim.Serving)
	serving := time.Now()
	for _, n := range s.Nodes {
		first := s.Answered(t, n, victim.At.Addr(), serving, s.Timing.Recovery())
		t.Logf("%s: first answer with it %s after it served again, allowed are %s", n.Name,
			first.Sub(serving).Round(time.Millisecond), s.Timing.Recovery())
	}
	for _, n := range s.Nodes {
		s.NoFailures(t, n, s.Began)
	}
}

// The agent notices the end of a listening socket between two checks (health_check.watch). Checks alone would take
// three minutes.
func TestFailover_AClosedSocketIsDetectedBetweenChecks(t *testing.T) {
	s := testbed.NewSite(t, 2, 3)
	for _, a := range s.Agents {
		for i := range a.File.Agent.Backends {
			h := &a.File.Agent.Backends[i].HealthCheck
			h.Interval, h.FailureThreshold = time.Minute, 3
		}
	}
	for _, n := range s.Nodes {
		n.File.Overwatch.Validation.CheckInterval = time.Minute
	}
	s.StartAll(t)
	victim := s.Backends[0]
	for _, n := range s.Nodes {
		s.Answered(t, n, victim.At.Addr(), s.Began, time.Second)
	}
	killed := testbed.Kill(t, victim)
	for _, n := range s.Nodes {
		last := s.Gone(t, n, victim.At.Addr(), killed, 10*time.Second)
		t.Logf("%s: last answer %s after kill -9", n.Name, last.Sub(killed).Round(time.Millisecond))
	}
}

// A running backend that reports itself unhealthy leaves the answers like a stopped backend, and its error is shown.
func TestFailover_BackendThatCallsItselfUnwellLeavesAndReturns(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n, victim := s.Nodes[0], s.Backends[0]

	sick := time.Now()
	testbed.Tell(t, victim, "/unhealthy")
	s.Gone(t, n, victim.At.Addr(), sick, s.Timing.Detection())
	v := s.Status(t, n, victim, time.Second, testbed.StatusIs(api.EffectiveUnhealthy, false))
	if v.Reason == "" {
		t.Error("the node gives no reason for an unhealthy backend")
	}

	well := time.Now()
	testbed.Tell(t, victim, "/healthy")
	s.Answered(t, n, victim.At.Addr(), well, s.Timing.Recovery())
	s.NoFailures(t, n, s.Began)
}

// The node's own checks detect the failure of a backend without an agent.
func TestFailover_StaticBackendIsCheckedByTheNodeItself(t *testing.T) {
	s := testbed.NewSite(t, 1, 2)
	n, victim := s.Nodes[0], s.Backends[0]
	s.Agents = nil
	n.File.Overwatch.Validation.CheckInterval = time.Minute // of servers without an interval of their own
	for _, b := range s.Backends {
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{
			Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
		})
		testbed.Start(t, b)
		testbed.Until(t, testbed.StartBound, "the backend", b.Serving)
	}
	testbed.Start(t, n)
	s.Ready(t, n)
	s.WatchAnswers(t)
	for _, b := range s.Backends {
		s.Answered(t, n, b.At.Addr(), s.Began, s.Timing.Recovery())
	}

	killed := testbed.Kill(t, victim)
	s.Gone(t, n, victim.At.Addr(), killed, s.Timing.Detection())
	testbed.Start(t, victim)
	testbed.Until(t, testbed.StartBound, "the backend", victim.Serving)
	s.Answered(t, n, victim.At.Addr(), time.Now(), s.Timing.Recovery())
	s.NoFailures(t, n, s.Began)
}
