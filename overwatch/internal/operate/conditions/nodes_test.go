package conditions // inside: it uses describeShared

import (
	"slices"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/cluster/replication"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/shared/api"
)

// A node that is missing in several sources has one condition, by its ID.
func TestConditions_ALostNodeHasOne(t *testing.T) {
	inNode(t, func(n *node) {
		n.have("a.example 1 h", "b.example 2 h")
		since, failed := time.Now().Add(-time.Minute), "no complete answer"
		n.o.LostPeers = func() []replication.LostPeer {
			return []replication.LostPeer{{Node: "ow-2", URL: "http://two", Since: since, Lacks: 3},
				{URL: "http://three", Since: since, Joining: true}}
		}
		n.o.Unheard = func() []gossip.SilentNode { return []gossip.SilentNode{{Node: "ow-2", Since: since}} }
		n.o.KeySync = func() api.DNSSECSyncState {
			return api.DNSSECSyncState{Enabled: true, Peers: []api.DNSSECPeer{{Peer: "http://two", Error: &failed},
				{Peer: "http://three", Error: &failed}, {Peer: "http://four", Error: &failed}}}
		}
		var said []string
		for _, c := range n.Conditions() {
			said = append(said, string(c.Kind)+" "+c.Subject+": "+c.Sentence)
		}
		want := []string{
			"node_unheard ow-2: node ow-2 does not answer since 1999-12-31T23:59:00Z: it is down, or cut off from this node; " +
				"it lacks 3 objects of this node",
			"node_unheard http://three: node http://three does not answer since 1999-12-31T23:59:00Z: it is down, or cut off " +
				"from this node; objects and deletions older than overwatch.replication.tombstone_retention are not exchanged " +
				"until it answers, or is removed from the peers",
			"keys_not_exchanged http://four: signing keys are not exchanged with http://four: no complete answer",
		}
		if !slices.Equal(said, want) {
			t.Errorf("%q", said)
		}
	})
}

// A lost peer has one condition, from the first failed key exchange until the first key exchange after its return.
func TestConditions_TheLossOfAPeerIsNoFailedExchange(t *testing.T) {
	inNode(t, func(n *node) {
		n.have("a.example 1 h", "b.example 2 h")
		failed := "cannot be reached"
		answered := time.Now()
		peer := api.DNSSECPeer{Peer: "http://two", Error: &failed, LastSuccess: &answered}
		var lost []replication.LostPeer
		n.o.LostPeers = func() []replication.LostPeer { return lost }
		n.o.KeySync = func() api.DNSSECSyncState {
			return api.DNSSECSyncState{Enabled: true, Peers: []api.DNSSECPeer{peer}}
		}
		attempt := func() { at := time.Now(); peer.LastAttempt = &at }
		reported := func(when string, want ...api.ConditionKind) {
			t.Helper()
			var kinds []api.ConditionKind
			for _, c := range n.Conditions() {
				kinds = append(kinds, c.Kind)
			}
			if !slices.Equal(kinds, want) {
				t.Errorf("%s: %v, want %v", when, kinds, want)
			}
		}
		attempt()
		reported("a failure before the loss is known")
		time.Sleep(4 * time.Second)
		lost = []replication.LostPeer{{Node: "ow-2", URL: "http://two", Since: answered}}
		attempt()
		reported("the loss", api.NodeUnheard)
		time.Sleep(time.Minute)
		attempt()
		reported("a long loss", api.NodeUnheard)
		lost = nil
		time.Sleep(time.Second)
		reported("the return, before the next exchange")
		attempt()
		reported("an exchange that fails after the return", api.KeysNotExchanged)
		peer.Error = nil
		reported("an exchange that succeeds")
		peer.Error = &failed
		reported("a new failure")
		time.Sleep(unexchangedFor)
		reported("a failure that lasts", api.KeysNotExchanged)
	})
}

// A shared ID has conditions on both nodes and on a third node.
func TestConditions_ASharedNodeIDIsDescribed(t *testing.T) {
	for want, shared := range map[string]replication.SharedID{
		"another node has this node's id ow-1 (http://two): give each node its own overwatch.identity.node_id, and " +
			"restart it": {Node: "ow-1", Own: true, URLs: []string{"http://two"}},
		"another node has this node's id ow-1: give each node its own overwatch.identity.node_id, and restart " +
			"it": {Node: "ow-1", Own: true},
		"two other nodes have id ow-2 (http://two, http://three): give each node its own overwatch.identity.node_id, " +
			"and restart it": {Node: "ow-2", URLs: []string{"http://two", "http://three"}},
	} {
		if said := describeShared(&shared); said != want {
			t.Errorf("%q", said)
		}
	}
}
