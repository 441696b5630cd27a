package gossip // inside: it uses members

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/wire"
)

// forged returns a sealed memberlist message, in the encoding of memberlist, in which a holder of the gossip key
// reports the state of a node.
func forged(t *testing.T, kind frame.Kind, node string, incarnation uint32) []byte {
	t.Helper()
	text := func(s string) []byte { return append([]byte{0xa0 | byte(len(s))}, s...) }
	plain := []byte{byte(kind), 0x83}
	plain = append(append(plain, text("Incarnation")...), 0xce)
	plain = binary.BigEndian.AppendUint32(plain, incarnation)
	plain = append(append(plain, text("Node")...), text(node)...)
	plain = append(append(plain, text("From")...), text("nobody")...)
	keys, err := frame.NewKeyring(wire.Label, [][]byte{gossipKey})
	if err != nil {
		t.Fatal(err)
	}
	return keys.SealPacket(nil, plain)
}

// For any report of a holder of the gossip key, a node is listed as alive while it answers, and as dead after it stops.
func TestNode_AForgedAccusationLeavesNobodyListedAsDead(t *testing.T) {
	const interval = 100 * time.Millisecond
	quick := func(o *Options) {
		o.ProbeInterval, o.ProbeTimeout, o.GossipInterval = interval, interval/2, interval/10
	}
	accused := startNode(t, func(o *Options) {
		quick(o)
		o.Seeds = []string{"127.0.0.1:1"}
	})
	n := startNode(t, func(o *Options) {
		quick(o)
		o.NodeID, o.Seeds = "ow-2", []string{accused.Addr().String()}
	})
	eventually(t, "both list each other", func() bool { return len(n.Members()) == 2 && len(accused.Members()) == 2 })
	conn, err := net.Dial("udp", n.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	before := time.Now()
	for _, kind := range []frame.Kind{frame.Suspect, frame.Dead} {
		for _, incarnation := range []uint32{1, 1 << 20, 1 << 30, 1<<30 + 1, 1 << 31, 1<<32 - 1} {
			if _, err := conn.Write(forged(t, kind, "ow-1", incarnation)); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := func() Member {
		n.members.mu.Lock()
		defer n.members.mu.Unlock()
		return *n.members.byName["ow-1"]
	}
	// The accused node may refute the report immediately, and then it has joined again.
	eventually(t, "memberlist called it dead", func() bool { return seen().isDead || seen().JoinedAt.After(before) })
	began := time.Now()
	eventually(t, "it answers this node and is listed as alive", func() bool {
		return seen().LastSeen.After(began.Add(10*interval)) && statusOf(n, "ow-1") == StatusAlive
	})
	accused.stop()
	eventually(t, "its death is listed", func() bool { return statusOf(n, "ow-1") != StatusAlive })
}
