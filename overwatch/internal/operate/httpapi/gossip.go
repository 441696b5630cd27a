package httpapi

import (
	"slices"

	"gslb.internal/shared/api"
)

// listGossipNodes answers GET /gossip/nodes?status&region with the overwatch nodes that gossip knows, and the agents
// that report to this node.
func (s *Server) listGossipNodes(c *call) (answer, error) {
	list := api.GossipNodeList{GeneratedAt: stamp(s.o.Now())}
	matching := filtered(slices.Values(s.nodes.Gossip()), func(n api.GossipNode) bool {
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
	nodes := s.nodes.Gossip()
	at := slices.IndexFunc(nodes, func(n api.GossipNode) bool { return n.ID == c.Param("id") })
	if at < 0 {
		return answer{}, notFound("no gossip node %.260q is known", c.Param("id"))
	}
	return ok(nodes[at]), nil
}
