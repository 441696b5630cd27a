package overwatch

import (
	"net/netip"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/cluster/keysync"
	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/shared/buildinfo"
)

// peers returns the gossip addresses, by node id, of the nodes that have proved their ids in the exchange of keys.
func (n *node) peers() map[string]netip.AddrPort {
	if n.keySync == nil {
		return nil
	}
	return n.keySync.Gossip()
}

// self returns this node's DNS addresses and number of queries, as the API shows them.
func (n *node) self() nodes.Self {
	return nodes.Self{Addresses: n.dns.Addrs(), Queries: n.dns.QueriesTotal()}
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

// places returns the table of clients' regions in force; nil if no answer depends on it.
func (n *node) places() *geo.Table { return n.publisher.View().RegionTable() }
