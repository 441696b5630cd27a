package api

import (
	"context"
	"net/http"
	"time"
)

// CreateDomain creates a domain. When it returns, DNS answers for it.
func (c *Client) CreateDomain(ctx context.Context, req DomainChange) (DomainDetail, error) {
	var answer DomainDetail
	err := c.do(ctx, call{method: http.MethodPost, path: "/api/v1/domains", body: req}, &answer)
	return answer, err
}

// ChangeDomain changes a domain that was created through the API.
func (c *Client) ChangeDomain(ctx context.Context, name string, req DomainChange) (DomainDetail, error) {
	p, err := under("/api/v1/domains", name)
	if err != nil {
		return DomainDetail{}, err
	}
	var answer DomainDetail
	err = c.do(ctx, call{method: http.MethodPatch, path: p, body: req}, &answer)
	return answer, err
}

// DeleteDomain deletes a domain that was created through the API.
func (c *Client) DeleteDomain(ctx context.Context, name string) error {
	p, err := under("/api/v1/domains", name)
	if err != nil {
		return err
	}
	return c.do(ctx, call{method: http.MethodDelete, path: p}, nil)
}

// Reload makes the node read its configuration again.
func (c *Client) Reload(ctx context.Context) (Reload, error) {
	var answer Reload
	err := c.do(ctx, call{method: http.MethodPost, path: "/api/v1/config/reload", timeout: time.Minute}, &answer)
	return answer, err
}

// GenerateGossipKey returns a new random key. It changes nothing.
func (c *Client) GenerateGossipKey(ctx context.Context) (GossipKey, error) {
	var answer GossipKey
	err := c.do(ctx, call{method: http.MethodPost, path: "/api/v1/gossip/generate-key"}, &answer)
	return answer, err
}
