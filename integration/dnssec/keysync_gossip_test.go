package dnssec_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// Nodes with peers and without seeds list each other as with gossip, with status and round-trip time. This includes
// nodes that start later or restart.
func TestKeySync_PeersGossipWithoutSeeds(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 2, 0)
	for i, n := range s.Nodes {
		n.File.Overwatch.Gossip.Seeds = nil
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: time.Second, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters", Peers: []string{"http://" + s.Nodes[1-i].API.String()}}
	}
	a, b := s.Nodes[0], s.Nodes[1]
	s.StartNodes(t, a)
	lists := func(n, other *harness.Node, alive bool) {
		t.Helper()
		testbed.Until(t, 2*time.Minute, n.Name+" to list "+other.Name, func(ctx context.Context) error {
			list, err := n.Client.GossipNodes(ctx)
			if err != nil {
				return err
			}
			for _, node := range list.Nodes {
				if node.ID == other.Name && node.RTTMS > 0 && (node.Status == api.GossipAlive) == alive {
					return nil
				}
			}
			return fmt.Errorf("it lists %+v", list.Nodes)
		})
	}
	s.StartNodes(t, b)
	lists(a, b, true)
	lists(b, a, true)
	testbed.Stop(t, b)
	lists(a, b, false)
	s.StartNodes(t, b)
	lists(a, b, true)
	lists(b, a, true)
}
