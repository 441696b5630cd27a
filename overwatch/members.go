package overwatch

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/shared/buildinfo"
)

// peers returns the gossip addresses, by node ID, of the nodes that the key exchange has authenticated.
func (n *node) peers() map[string]netip.AddrPort {
	if n.keySync == nil {
		return nil
	}
	return n.keySync.Gossip()
}

// self returns this node's DNS addresses and number of queries for the API.
func (n *node) self() nodes.Self {
	return nodes.Self{Addresses: n.dns.Addrs(), Queries: n.dns.QueriesTotal()}
}

// about returns the description of this node that peers receive with its keys.
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

// places returns the current location table of clients; nil if no answer depends on it.
func (n *node) places() *geo.Table { return n.publisher.View().RegionTable() }
