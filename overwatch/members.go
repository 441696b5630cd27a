package overwatch

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/keysync"
	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/ready"
	"gslb.internal/overwatch/internal/operate/httpapi"
	"gslb.internal/shared/api"
	"gslb.internal/shared/buildinfo"
)

// members returns the overwatch nodes that gossip knows, as the API shows them.
func (n *node) members() []httpapi.Member {
	known := n.gossip.Members()
	list := make([]httpapi.Member, len(known))
	for i, m := range known {
		state := api.GossipMember
		if m.Self {
			state = api.GossipSelf
		}
		list[i] = httpapi.Member{
			ID: m.Name, Address: m.Address, Region: m.Region, Version: m.Version, Status: api.GossipStatus(m.Status),
			State: state, RTT: m.RTT, LastSeen: m.LastSeen, JoinedAt: m.JoinedAt,
		}
	}
	return list
}

// peers returns the gossip addresses, by node id, of the nodes that have proved their ids in the exchange of keys.
func (n *node) peers() map[string]netip.AddrPort {
	if n.keySync == nil {
		return nil
	}
	return n.keySync.Gossip()
}

// unheard lists the nodes that gossip does not count as alive, and the seeds at which it never reached a node.
func (n *node) unheard() []ready.Unheard {
	var list []ready.Unheard
	if len(n.state.Config().Overwatch.Gossip.Seeds) == 0 {
		return nil // the exchange of keys reports peers that do not answer
	}
	for _, m := range n.gossip.Members() {
		if !m.Self && m.Status != gossip.StatusAlive {
			list = append(list, ready.Unheard{Node: m.Name, Since: m.LastSeen})
		}
	}
	never := n.gossip.UnreachedSeeds()
	for _, seed := range slices.Sorted(maps.Keys(never)) {
		list = append(list, ready.Unheard{Node: seed, Since: never[seed], Never: true})
	}
	return list
}

// self returns this node's DNS addresses and number of queries, as the API shows them.
func (n *node) self() httpapi.Self {
	return httpapi.Self{Addresses: n.dns.Addrs(), Queries: n.dns.QueriesTotal()}
}

// about returns the description of this node that its peers get with its keys.
func (n *node) about() keysync.About {
	a := keysync.About{Region: n.state.Config().Overwatch.Identity.Region, Version: buildinfo.Get().Version,
		Started: n.started, Gossip: n.gossip.Advertised()}
	if n.serving.Load() {
		self := n.self()
		a.Queries = self.Queries
		if len(self.Addresses) > 0 {
			a.Port = self.Addresses[0].Port()
		}
	}
	return a
}

// keyRolls lists the changes of signing keys that wait for something else than time.
func (n *node) keyRolls() (waiting []ready.KeyRoll) {
	for _, r := range n.zones.Rolls() {
		if r.Wait.For != "" && r.Wait.Until.IsZero() {
			waiting = append(waiting, ready.KeyRoll{Zone: r.Zone, Way: string(r.Way), Waits: r.Wait.For, Since: r.Since})
		}
	}
	return waiting
}

// stringers converts a slice to the type that a log event takes.
func stringers[T fmt.Stringer](list []T) []fmt.Stringer {
	out := make([]fmt.Stringer, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// places returns the table of clients' regions in force; nil if no answer depends on it.
func (n *node) places() *geo.Table { return n.publisher.View().Places() }
