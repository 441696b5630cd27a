package trust_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/frame"
)

// rumour returns a memberlist message from a holder of the gossip key that reports a node as suspected or dead.
func rumour(kind frame.Kind, node, from string, incarnation uint32) []byte {
	m := append([]byte{byte(kind), 0x83}, "\xabIncarnation\xce"...)
	m = binary.BigEndian.AppendUint32(m, incarnation)
	m = append(append(append(m, "\xa4Node"...), 0xa0|byte(len(node))), node...)
	return append(append(append(m, "\xa4From"...), 0xa0|byte(len(from))), from...)
}

// rumourBound is the maximum time until a running node that was reported dead is shown as alive again. In a small
// cluster, memberlist waits about as long for a denial.
const rumourBound = 5 * time.Second

// A holder of the gossip key who reports a running node as suspected or dead with the highest incarnation cannot make
// other nodes show it as dead.
func TestRumour_LeavesNoLivingNodeDead(t *testing.T) {
	s := newStand(t)
	second := s.addNode(t, "ow-2")
	s.node.File.Overwatch.Gossip.Seeds = []string{second.Gossip.String()}
	second.File.Overwatch.Gossip.Seeds = []string{s.node.Gossip.String()}
	testbed.Start(t, second)
	s.start(t)
	alive := func(n *harness.Node) func(context.Context) error {
		return func(ctx context.Context) error {
			list, err := n.Client.GossipNodes(ctx)
			if err != nil {
				return err
			}
			well := 0
			for _, node := range list.Nodes {
				if node.Status != "alive" {
					return fmt.Errorf("%s shows %s as %s", n.Name, node.Name, node.Status)
				}
				well++
			}
			if well < 2 {
				return fmt.Errorf("%s shows %d nodes", n.Name, well)
			}
			return nil
		}
	}
	both := []*harness.Node{s.node, second}
	for _, n := range both {
		until(t, "the nodes to know one another", alive(n))
	}
	for _, kind := range []frame.Kind{frame.Suspect, frame.Dead} {
		for _, to := range both {
			conn, err := net.Dial("udp", to.Gossip.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, about := range both {
				for _, incarnation := range []uint32{1000, math.MaxUint32 - 1, math.MaxUint32} {
					for _, from := range []string{"nobody", about.Name} {
						if _, err := conn.Write(s.cipher.Packet(rumour(kind, about.Name, from, incarnation))); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
	shown := func() {
		for _, n := range both {
			testbed.Until(t, rumourBound, "every node to be shown as it is", alive(n))
		}
	}
	shown()
	testbed.During(t, rumourBound, time.Second, shown) // what memberlist suspects it calls dead later
}
