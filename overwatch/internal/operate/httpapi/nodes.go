package httpapi

import (
	"slices"

	"gslb.internal/overwatch/internal/operate/nodes"
	"gslb.internal/shared/api"
)

// listAgentNodes answers GET /nodes/agent?status&region.
func (s *Server) listAgentNodes(c *call) (answer, error) {
	var nodes []api.AgentNode
	for _, n := range s.nodes.Agents() {
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
		return ok(s.nodes.Agent(r, set.Nodes[id])), nil
	}
	if announced := set.Nodes[id]; announced != nil {
		return ok(nodes.Pending(announced)), nil
	}
	return answer{}, unknownNode(id)
}

func unknownNode(id string) error {
	return notFound("no agent %.260q is pinned or was announced", id)
}
