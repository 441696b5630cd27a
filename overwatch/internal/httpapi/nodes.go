package httpapi

import (
	"cmp"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/ready"
	"gslb.internal/overwatch/internal/trust"
	"gslb.internal/shared/api"
)

// listAgentNodes answers GET /nodes/agent?status&region.
func (s *Server) listAgentNodes(c *gin.Context) (answer, error) {
	q, p, err := listQuery(c, "status", "region")
	if err != nil {
		return answer{}, err
	}
	status, err := oneOf(q, "status", api.AgentStatuses())
	if err != nil {
		return answer{}, err
	}
	var nodes []api.AgentNode
	for _, r := range s.o.Pins.Agents() {
		n := s.agentNodeView(r)
		if (status == "" || n.Status == status) && (q["region"] == "" || n.Region == q["region"]) {
			nodes = append(nodes, n)
		}
	}
	list := api.AgentNodeList{GeneratedAt: stamp(s.o.Now())}
	list.Nodes, list.Total = pageOf(slices.Values(nodes), p, func(n api.AgentNode) api.AgentNode { return n })
	return ok(list), nil
}

// getAgentNode answers GET /nodes/agent/{id}.
func (s *Server) getAgentNode(c *gin.Context) (answer, error) {
	r, found := s.o.Pins.Get(c.Param("id"))
	if !found {
		return answer{}, unknownAgent(c.Param("id"))
	}
	return ok(s.agentNodeView(r)), nil
}

// agentNodeView shows a pinned agent as a node: online while its heartbeats
// arrive.
func (s *Server) agentNodeView(r trust.Record) api.AgentNode {
	node := api.AgentNode{
		ID: r.AgentID, Name: r.AgentID, Region: r.Region, Status: api.AgentOffline, Version: r.Version,
		CertificateExpiry: stampOrNull(r.NotAfter), RegisteredAt: stampOrNull(r.FirstSeen),
	}
	state, heard := s.o.View.Agent(r.AgentID)
	if !heard {
		return node
	}
	node.Region, node.Version = cmp.Or(state.Region, r.Region), cmp.Or(state.Version, r.Version)
	node.LastSeen, node.UptimeSeconds = stampOrNull(state.LastSeen), int64(state.Uptime/time.Second)
	node.ChecksTotal, node.ActiveChecks, node.TargetCount = state.Figures.ChecksTotal, state.Backends, state.Backends
	if seconds := state.Uptime.Seconds(); seconds > 0 {
		node.ChecksPerSec = float64(state.Figures.ChecksTotal) / seconds
	}
	if ready.AgentStatus(state, s.o.Now()) != api.GossipDead {
		node.Status = api.AgentOnline
	}
	return node
}
