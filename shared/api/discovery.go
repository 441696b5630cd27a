package api

import (
	"context"
	"net/url"
)

// DiscoveryTarget is an element of the answer of GET /api/v1/prometheus/targets, in the format of Prometheus' HTTP
// service discovery.
type DiscoveryTarget struct {
	Targets []string          `json:"targets"` // one address and port
	Labels  map[string]string `json:"labels"`  // with the prefix __meta_gslb_
}

// Roles of GET /api/v1/prometheus/targets.
const (
	DiscoverNodes    = "nodes"
	DiscoverAgents   = "agents"
	DiscoverBackends = "backends"
)

// DiscoveryTargets returns the targets of a role.
func (c *Client) DiscoveryTargets(ctx context.Context, role string) ([]DiscoveryTarget, error) {
	return get[[]DiscoveryTarget](ctx, c, "/api/v1/prometheus/targets", url.Values{"role": {role}})
}
