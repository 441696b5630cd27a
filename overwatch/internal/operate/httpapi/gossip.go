package httpapi

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

// listGossipNodes answers GET /gossip/nodes?status&region: the overwatch nodes that gossip knows, and the agents that
// report to this one.
func (s *Server) listGossipNodes(c *call) (answer, error) {
	list := api.GossipNodeList{GeneratedAt: stamp(s.o.Now())}
	matching := filtered(slices.Values(s.gossipNodes()), func(n api.GossipNode) bool {
		return matches(c.query["status"], n.Status) && matchesRegion(c.query["region"], n.Region)
	})
	for n := range matching {
		if n.Status == api.GossipAlive {
			list.Healthy++
		}
	}
	list.Nodes, list.Total = pageOf(matching, c.page, func(n api.GossipNode) api.GossipNode { return n })
	return ok(list), nil
}

// getGossipNode answers GET /gossip/nodes/{id}.
func (s *Server) getGossipNode(c *call) (answer, error) {
	nodes := s.gossipNodes()
	at := slices.IndexFunc(nodes, func(n api.GossipNode) bool { return n.ID == c.Param("id") })
	if at < 0 {
		return answer{}, notFound("no gossip node %.260q is known", c.Param("id"))
	}
	return ok(nodes[at]), nil
}

// gossipNodes lists overwatch nodes before agents, each ordered by id.
func (s *Server) gossipNodes() []api.GossipNode {
	var nodes []api.GossipNode
	for _, m := range s.o.Members() {
		nodes = append(nodes, memberView(m))
	}
	slices.SortFunc(nodes, func(a, b api.GossipNode) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Address, b.Address))
	})
	now := s.o.Now()
	pins := map[string]trust.Record{}
	for _, r := range s.o.Pins.Agents() {
		pins[r.AgentID] = r
	}
	for _, a := range s.o.View.Agents() {
		node := agentNode(a)
		node.Status, node.JoinedAt = conditions.AgentStatus(a, now), api.MomentOrNull(pins[a.ID].FirstSeen)
		node.Address, node.Port = parts(s.o.HeardFrom(pins[a.ID].KeyID))
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

// parts splits an address and port for display; both are zero for one that is not known.
func parts(at netip.AddrPort) (address string, port int) {
	if at.IsValid() {
		address = at.Addr().String()
	}
	return address, int(at.Port())
}

// roundTrip returns milliseconds, rounded up: 0 is a time that is not known.
func roundTrip(rtt time.Duration) int { return int((rtt + time.Millisecond - 1) / time.Millisecond) }

// agentNode shows an agent, but for its address.
func agentNode(a registry.AgentState) api.GossipNode {
	return api.GossipNode{
		ID: a.ID, Name: a.ID, State: api.GossipMember, Region: a.Region, Version: a.Version,
		RTTMS:    roundTrip(time.Duration(a.Figures.RTTMicros) * time.Microsecond),
		LastSeen: api.MomentOrNull(a.LastSeen),
	}
}
