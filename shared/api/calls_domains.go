package api

import (
	"context"
	"net/http"
	"time"
)

// CreateDomain creates a domain. When it returns, DNS answers for it.
func (c *Client) CreateDomain(ctx context.Context, req DomainChange) (DomainDetail, error) {
	return send[DomainDetail](ctx, c, http.MethodPost, "/api/v1/domains", req)
}

// ChangeDomain changes a domain that was created through the API.
func (c *Client) ChangeDomain(ctx context.Context, name string, req DomainChange) (DomainDetail, error) {
	return send[DomainDetail](ctx, c, http.MethodPatch, "/api/v1/domains", req, name)
}

// DeleteDomain deletes a domain that was created through the API.
func (c *Client) DeleteDomain(ctx context.Context, name string) error {
	return c.remove(ctx, "/api/v1/domains", name)
}

// Reload makes the node read its configuration again.
func (c *Client) Reload(ctx context.Context) (Reload, error) {
	return ask[Reload](ctx, c, call{method: http.MethodPost, path: "/api/v1/config/reload", timeout: time.Minute})
}

// GenerateGossipKey returns a new random key. It changes nothing.
func (c *Client) GenerateGossipKey(ctx context.Context) (GossipKey, error) {
	return ask[GossipKey](ctx, c, call{method: http.MethodPost, path: "/api/v1/gossip/generate-key"})
}
