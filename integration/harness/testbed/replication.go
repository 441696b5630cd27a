package testbed

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// ReplicationBound is the promised time until a change has reached another running node.
const ReplicationBound = 20 * time.Second

// Alike waits until nodes have the same objects, and each has stored all changes of the others.
func Alike(t *testing.T, nodes ...*harness.Node) {
	t.Helper()
	Until(t, ReplicationBound, "all nodes to hold the same", func(ctx context.Context) error {
		var first api.Replication
		for _, n := range nodes {
			r, err := n.Client.Replication(ctx)
			if err != nil {
				return err
			}
			if first.NodeID == "" {
				first = r
			}
			if r.Digest != first.Digest {
				return fmt.Errorf("%s has %d objects and %d deletions, %s %d and %d", first.NodeID, first.Objects,
					first.Tombstones, r.NodeID, r.Objects, r.Tombstones)
			}
			for _, p := range r.Peers {
				if p.Behind > 0 {
					return fmt.Errorf("on %s %s is behind by %d", r.NodeID, p.NodeID, p.Behind)
				}
			}
		}
		return nil
	})
}
