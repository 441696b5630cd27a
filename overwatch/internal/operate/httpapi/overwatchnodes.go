package httpapi

import (
	"slices"

	"gslb.internal/shared/api"
)

// listOverwatchNodes answers GET /nodes/overwatch?status&region: this node and its peers.
func (s *Server) listOverwatchNodes(c *call) (answer, error) {
	list := api.OverwatchNodeList{GeneratedAt: stamp(s.o.Now())}
	matching := filtered(slices.Values(s.nodes.Overwatch()), func(n api.OverwatchNode) bool {
		return matches(c.query["status"], n.Status) && matchesRegion(c.query["region"], n.Region)
	})
	list.Nodes, list.Total = pageOf(matching, c.page, func(n api.OverwatchNode) api.OverwatchNode { return n })
	return ok(list), nil
}

// getOverwatchNode answers GET /nodes/overwatch/{id}.
func (s *Server) getOverwatchNode(c *call) (answer, error) {
	nodes := s.nodes.Overwatch()
	at := slices.IndexFunc(nodes, func(n api.OverwatchNode) bool { return n.ID == c.Param("id") })
	if at < 0 {
		return answer{}, notFound("no overwatch node %.260q is known", c.Param("id"))
	}
	return ok(nodes[at]), nil
}
