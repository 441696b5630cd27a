package gossip // inside: it uses roleLine

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// Nodes without seeds list the peers that have proved their ids, with round-trip times, as soon as they know each
// other. They do not list other holders of the gossip key.
func TestNode_PeersAreListedAndMonitoredWithoutSeeds(t *testing.T) {
	var known atomic.Pointer[map[string]netip.AddrPort]
	known.Store(&map[string]netip.AddrPort{})
	start := func(id string) *testNode {
		return startNode(t, func(o *Options) {
			o.NodeID, o.Peers = id, func() map[string]netip.AddrPort { return *known.Load() }
			o.ProbeInterval, o.ProbeTimeout = 100*time.Millisecond, 50*time.Millisecond
		})
	}
	first, second := start("ow-1"), start("ow-2")
	stranger := (&stranger{meta: []byte(roleLine + "\nus\n1")}).peer(t, first, func(c *memberlist.Config) {
		c.EnableCompression = false
	})
	defer func() { _ = stranger.Shutdown() }()
	if m := first.Members(); len(m) != 1 {
		t.Errorf("before anybody proved an id: %+v", m)
	}
	known.Store(&map[string]netip.AddrPort{"ow-1": first.Advertised(), "ow-2": second.Advertised()})
	for n, other := range map[*testNode]*testNode{first: second, second: first} {
		eventually(t, "a node lists its peer, with a round-trip time", func() bool {
			for _, m := range n.Members() {
				if !m.Self && m.Address == other.Addr() && m.Status == StatusAlive && m.RTT > 0 {
					return len(n.Members()) == 2
				}
			}
			return false
		})
	}
	_, _ = stranger.Join([]string{first.Addr().String()})
	if m := first.Members(); len(m) != 2 {
		t.Errorf("a stranger is listed: %+v", m)
	}
	second.stop()
	eventually(t, "the death of a peer is noticed", func() bool { return first.Members()[1].Status != StatusAlive })
}
