package httpapi

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// listAgentNodes answers GET /nodes/agent?status&region.
func (s *Server) listAgentNodes(c *call) (answer, error) {
	var nodes []api.AgentNode
	for _, n := range s.agentNodes() {
		if matches(c.query["status"], n.Status) && matchesRegion(c.query["region"], n.Region) {
			nodes = append(nodes, n)
		}
	}
	list := api.AgentNodeList{GeneratedAt: stamp(s.o.Now())}
	list.Nodes, list.Total = pageOf(slices.Values(nodes), c.page, func(n api.AgentNode) api.AgentNode { return n })
	return ok(list), nil
}

// getAgentNode answers GET /nodes/agent/{id}.
func (s *Server) getAgentNode(c *call) (answer, error) {
	id := c.Param("id")
	set, _ := s.o.Definitions.Defined()
	if r, found := s.o.Pins.Get(id); found {
		return ok(s.agentNodeView(r, set.Nodes[id])), nil
	}
	if announced := set.Nodes[id]; announced != nil {
		return ok(pendingNode(announced)), nil
	}
	return answer{}, unknownNode(id)
}

func unknownNode(id string) *problem {
	return notFound("no agent %.260q is pinned or was announced", id)
}

// agentNodes lists the pinned agents and those that were announced, by id.
func (s *Server) agentNodes() []api.AgentNode {
	set, _ := s.o.Definitions.Defined()
	var nodes []api.AgentNode
	pinned := map[string]bool{}
	for _, r := range s.o.Pins.Agents() {
		pinned[r.AgentID] = true
		nodes = append(nodes, s.agentNodeView(r, set.Nodes[r.AgentID]))
	}
	for id, announced := range set.Nodes {
		if !pinned[id] {
			nodes = append(nodes, pendingNode(announced))
		}
	}
	slices.SortFunc(nodes, func(a, b api.AgentNode) int { return strings.Compare(a.ID, b.ID) })
	return nodes
}

// pendingNode shows an announced agent that has not proved its token yet.
func pendingNode(n *store.Node) api.AgentNode {
	return api.AgentNode{
		ID: n.ID, Name: n.ID, Address: n.Address, Port: n.Port, Region: n.Region, Version: n.Version,
		Status: api.AgentPending, RegisteredAt: api.MomentOrNull(n.RegisteredAt),
	}
}

// agentNodeView shows a pinned agent as a node: online while its heartbeats arrive.
func (s *Server) agentNodeView(r trust.Record, announced *store.Node) api.AgentNode {
	node := api.AgentNode{
		ID: r.AgentID, Name: r.AgentID, Region: r.Region, Status: api.AgentOffline, Version: r.Version,
		CertificateExpiry: api.MomentOrNull(r.NotAfter), RegisteredAt: api.MomentOrNull(r.FirstSeen),
	}
	if announced != nil {
		node.Address, node.Port = announced.Address, announced.Port
	}
	if from := s.o.HeardFrom(r.KeyID); from.IsValid() {
		node.Address, node.Port = parts(from)
	}
	state, heard := s.o.View.Agent(r.AgentID)
	if !heard {
		return node
	}
	node.Region, node.Version = cmp.Or(state.Region, r.Region), cmp.Or(state.Version, r.Version)
	node.LastSeen, node.LeftAt = api.MomentOrNull(state.LastSeen), api.MomentOrNull(state.LeftAt)
	node.UptimeSeconds = int64(state.Uptime / time.Second)
	node.ChecksTotal, node.ActiveChecks, node.TargetCount = state.Figures.ChecksTotal, state.Backends, state.Backends
	if seconds := state.Uptime.Seconds(); seconds > 0 {
		node.ChecksPerSec = float64(state.Figures.ChecksTotal) / seconds
	}
	if conditions.AgentStatus(state, s.o.Now()) != api.GossipDead {
		node.Status = api.AgentOnline
	}
	return node
}
