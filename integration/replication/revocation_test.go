package replication_test

import (
	"context"
	"fmt"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// standing waits until nodes report the state "pinned", "revoked" or "gone" of an agent.
func standing(t *testing.T, agent, want string, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, reachBound, n.Name+" to have "+agent+" as "+want, func(ctx context.Context) error {
			list, err := n.Client.Agents(ctx)
			got := "gone"
			for _, a := range list.Agents {
				switch {
				case a.AgentID == agent && a.Revoked:
					got = "revoked"
				case a.AgentID == agent:
					got = "pinned"
				}
			}
			if err != nil || got != want {
				return fmt.Errorf("it is %s, %w", got, err)
			}
			return nil
		})
	}
}

// All nodes refuse an agent that is revoked on one node, including a node that was down and a node that never received
// its messages. An unpin on another node ends the revocation on all nodes.
func TestReplication_ARevocationReachesEveryNode(t *testing.T) {
	t.Parallel()
	s := replicating(t, 1)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	s.StartNodes(t, a, b)
	testbed.Start(t, s.Backends[0])
	agent := s.Agents[0]
	testbed.Start(t, agent)
	standing(t, agent.Name, "pinned", a, b)
	testbed.Kill(t, b)
	if _, err := a.Client.Revoke(t.Context(), agent.Name, api.RevokeRequest{Reason: "stolen",
		LockService: true}); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, b, c)
	standing(t, agent.Name, "revoked", s.Nodes...)
	alike(t, s.Nodes...)
	for _, n := range s.Nodes {
		locks, err := n.Client.TokenLocks(t.Context())
		if err != nil || len(locks.Locks) == 0 {
			t.Errorf("%s has locks %+v, %v", n.Name, locks, err)
		}
	}
	testbed.Stop(t, agent)
	if _, err := c.Client.Unpin(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	standing(t, agent.Name, "gone", s.Nodes...)
	locks, err := b.Client.TokenLocks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range locks.Locks {
		if _, err := b.Client.UnlockToken(t.Context(), l.Service); err != nil {
			t.Fatal(err)
		}
	}
	alike(t, s.Nodes...)
	testbed.Start(t, agent)
	standing(t, agent.Name, "pinned", s.Nodes...)
}
