package trust_test

import (
	"testing"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// An agent with the token of a service cannot remove a server from the answers while the node's own check succeeds, if
// the node's file declares the server without an agent. The node shows the agent's report.
//
// Fault 5.
func TestClaim_AgainstAServerOfTheFileDecidesNothing(t *testing.T) {
	s := newStand(t)
	s.start(t)
	begin, evil := time.Now(), s.pinned(t, "evil", goodName)
	b := report(goodName, s.server.At)
	b.Claim, b.ConsecutiveFailures, b.LastError = wire.ClaimUnhealthy, 100, "it is gone"
	s.reports(t, evil, []wire.Backend{b})
	view := s.backend(t, s.server.At, func(v api.Backend) error { return nil })
	if !view.MayServe || view.EffectiveStatus != api.EffectiveHealthy {
		t.Errorf("the server is %s, may serve: %t (%s)", view.EffectiveStatus, view.MayServe, view.Reason)
	}
	s.checked(t, 2)
	s.good(t, begin)
	if view.AgentID != "evil" || view.AgentHealthy == nil || *view.AgentHealthy {
		t.Errorf("the claim is not shown: agent %q says %v", view.AgentID, view.AgentHealthy)
	}

	// Draining and the weight of a declared server are its declaration's, too.
	b.Draining, b.DrainMillis, b.Weight = true, 1, 0
	_ = evil.Heartbeat(time.Second, []wire.Backend{b})
	_ = evil.Exchange(wire.TypeDrain, &wire.Drain{OverMillis: 1}, true, time.Second)
	s.checked(t, 2)
	s.good(t, begin)
}
