package api

import "context"

// GossipNodes lists the participants of gossip.
func (c *Client) GossipNodes(ctx context.Context) (GossipNodeList, error) {
	return everyPage(ctx, c, "/api/v1/gossip/nodes", nil,
		func(l *GossipNodeList) (*[]GossipNode, int) { return &l.Nodes, l.Total })
}
