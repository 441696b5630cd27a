package trust_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gslb.internal/integration/harness/relay"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// An attacker who records and repeats messages of an agent keeps no backend alive, neither in the same process of the
// node nor in a later process.
//
// Fault 21: Recorded messages are replayed to the same or a later process. All are rejected and counted.
func TestTrust_ReplayedMessagesChangeNothing(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	relay := relay.New(t, n.Gossip)
	agent.File.Agent.Gossip.OverwatchNodes = []string{relay.At.String()}
	s.StartAll(t)
	testbed.Until(t, testbed.StartBound, "some heartbeats", func(context.Context) error {
		if packets, streams := relay.Recorded(); packets < 5 || streams < 1 {
			return errors.New("not yet")
		}
		return nil
	})

	killed := testbed.Kill(t, agent)
	s.Status(t, n, b, s.Timing.StaleThreshold+time.Second+testbed.StaleResolution, func(v api.Backend) error {
		relay.Replay(t)
		return testbed.WantStatus(v, api.EffectiveStale, true)
	})
	testbed.Counts(t, n, "replayed messages", `gslb_gossip_refused_total{code="replay"}`)

	testbed.Kill(t, n)
	testbed.Start(t, n)
	s.Ready(t, n)
	ready := time.Now()
	for range 10 {
		relay.Replay(t)
	}
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{Service: testbed.AppName})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list.Backends {
		if v.Address == b.At.Addr().String() && v.AgentLastSeen != nil && v.AgentLastSeen.After(killed) {
			t.Errorf("a recording from before the restart was believed: %+v", v)
		}
	}
	s.NoFailures(t, n, ready)
}
