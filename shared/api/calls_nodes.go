package api

import (
	"context"
	"net/http"
)

const (
	pathAgentNodes     = "/api/v1/nodes/agent"
	pathOverwatchNodes = "/api/v1/nodes/overwatch"
)

// OverwatchNodes lists the node and its peers.
func (c *Client) OverwatchNodes(ctx context.Context) (OverwatchNodeList, error) {
	return everyPage(ctx, c, pathOverwatchNodes, nil,
		func(l *OverwatchNodeList) (*[]OverwatchNode, int) { return &l.Nodes, l.Total })
}

// OverwatchNode returns an overwatch node.
func (c *Client) OverwatchNode(ctx context.Context, id string) (OverwatchNode, error) {
	return get[OverwatchNode](ctx, c, pathOverwatchNodes, nil, id)
}

// AgentNodes lists the agents as nodes, including announced agents that have not reported yet.
func (c *Client) AgentNodes(ctx context.Context) (AgentNodeList, error) {
	return everyPage(ctx, c, pathAgentNodes, nil, func(l *AgentNodeList) (*[]AgentNode, int) { return &l.Nodes, l.Total })
}

// AnnounceAgent announces an agent: it is pending until it reports.
func (c *Client) AnnounceAgent(ctx context.Context, req AgentRegistration) (AgentNode, error) {
	return send[AgentNode](ctx, c, http.MethodPost, pathAgentNodes, req)
}

// DeregisterAgent deletes the pin and the announcement of an agent.
func (c *Client) DeregisterAgent(ctx context.Context, id string) error {
	return c.remove(ctx, pathAgentNodes, id)
}

// AgentCertificate returns the pinned certificate of an agent.
func (c *Client) AgentCertificate(ctx context.Context, id string) (AgentCertificateAnswer, error) {
	return get[AgentCertificateAnswer](ctx, c, pathAgentNodes, nil, id, "certificate")
}

// ReissueCertificate makes the node pin the agent's next certificate instead of the current one.
func (c *Client) ReissueCertificate(ctx context.Context, id string) (CertificateReissue, error) {
	return send[CertificateReissue](ctx, c, http.MethodPost, pathAgentNodes, nil, id, "certificate")
}

// RevokeCertificate rejects an agent from now on.
func (c *Client) RevokeCertificate(ctx context.Context, id string) error {
	return c.remove(ctx, pathAgentNodes, id, "certificate")
}

// GossipNodes lists the participants of gossip.
func (c *Client) GossipNodes(ctx context.Context) (GossipNodeList, error) {
	return everyPage(ctx, c, "/api/v1/gossip/nodes", nil,
		func(l *GossipNodeList) (*[]GossipNode, int) { return &l.Nodes, l.Total })
}
