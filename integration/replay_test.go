package integration_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// Whoever records what an agent sends, and sends it again, keeps no backend alive: neither in the same process of the
// node nor in a later one (row 21).
func TestTrust_ReplayedMessagesChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 2)
	n, agent, b := s.nodes[0], s.agents[0], s.backends[0]
	relay := newRelay(t, n.Gossip)
	agent.File.Agent.Gossip.OverwatchNodes = []string{relay.at.String()}
	s.startAll(t)
	until(t, startBound, "some heartbeats", func(context.Context) error {
		if packets, streams := relay.recorded(); packets < 5 || streams < 1 {
			return errors.New("not yet")
		}
		return nil
	})

	killed, err := agent.Kill()
	if err != nil {
		t.Fatal(err)
	}
	s.status(t, n, b, s.Timing.StaleThreshold+time.Second+staleResolution, func(v api.Backend) error {
		relay.replay(t)
		return wantStatus(v, api.EffectiveStale, true)
	})
	counts(t, n, "replayed messages", `gslb_gossip_refused_total{code="replay"}`)

	if _, err := n.Kill(); err != nil {
		t.Fatal(err)
	}
	start(t, n)
	s.ready(t, n)
	ready := time.Now()
	for range 10 {
		relay.replay(t)
	}
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{Service: appName})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list.Backends {
		if v.Address == b.At.Addr().String() && v.AgentLastSeen != nil && v.AgentLastSeen.After(killed) {
			t.Errorf("a recording from before the restart was believed: %+v", v)
		}
	}
	s.noFailures(t, n, ready)
}
