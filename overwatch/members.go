package overwatch

import (
	"fmt"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/operate/httpapi"
	"gslb.internal/shared/api"
)

// members are the overwatch nodes that gossip knows, as the API shows them.
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

// self is what the API says of this node as a server of DNS.
func (n *node) self() httpapi.Self {
	s := httpapi.Self{Addresses: n.dns.Addrs()}
	families, err := n.registerer.Gather()
	if err != nil {
		n.log.Error().Err(err).Msg("counting queries")
	}
	for _, f := range families {
		if f.GetName() != "gslb_dns_queries_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			s.Queries += uint64(m.GetCounter().GetValue())
		}
	}
	return s
}

// stringers is a slice as a log event takes it.
func stringers[T fmt.Stringer](list []T) []fmt.Stringer {
	out := make([]fmt.Stringer, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// places is the table that DNS answers from.
func (n *node) places() *geo.Table { return n.publisher.View().Places() }
