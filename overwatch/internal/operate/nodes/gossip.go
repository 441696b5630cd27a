package nodes

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/shared/api"
)

// Gossip lists overwatch nodes before agents, each ordered by ID.
func (s *Sources) Gossip() []api.GossipNode {
	var nodes []api.GossipNode
	for _, m := range s.Members() {
		nodes = append(nodes, memberView(m))
	}
	slices.SortFunc(nodes, func(a, b api.GossipNode) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Address, b.Address))
	})
	now := s.Now()
	pins := map[string]trust.Record{}
	for _, r := range s.Pins.Agents() {
		pins[r.AgentID] = r
	}
	for _, a := range s.View.Agents() {
		node := agentNode(a)
		node.Status, node.JoinedAt = conditions.AgentStatus(a, now), api.MomentOrNull(pins[a.ID].FirstSeen)
		node.Address, node.Port = parts(s.HeardFrom(pins[a.ID].KeyID))
		nodes = append(nodes, node)
	}
	return nodes
}

func memberView(m gossip.Member) api.GossipNode {
	node := api.GossipNode{
		ID: m.Name, Name: m.Name, Status: api.GossipStatus(m.Status), State: api.GossipMember,
		Region: m.Region, Version: m.Version, RTTMS: roundTrip(m.RTT),
		LastSeen: api.MomentOrNull(m.LastSeen), JoinedAt: api.MomentOrNull(m.JoinedAt),
	}
	if m.Self {
		node.State = api.GossipSelf
	}
	node.Address, node.Port = parts(m.Address)
	return node
}

// parts splits an address and port for display. Both are zero if the address is unknown.
func parts(at netip.AddrPort) (address string, port int) {
	if at.IsValid() {
		address = at.Addr().String()
	}
	return address, int(at.Port())
}

// roundTrip returns milliseconds, rounded up; 0 means unknown.
func roundTrip(rtt time.Duration) int { return int((rtt + time.Millisecond - 1) / time.Millisecond) }

// agentNode describes an agent, without its address.
func agentNode(a registry.AgentState) api.GossipNode {
	return api.GossipNode{
		ID: a.ID, Name: a.ID, State: api.GossipMember, Region: a.Region, Version: a.Version,
		RTTMS:    roundTrip(time.Duration(a.Figures.RTTMicros) * time.Microsecond),
		LastSeen: api.MomentOrNull(a.LastSeen),
	}
}
