package api

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Unpin deletes the pin of an agent's certificate. The node ignores its reports until the agent proves its token.
func (c *Client) Unpin(ctx context.Context, id string) (Outcome, error) {
	return send[Outcome](ctx, c, http.MethodDelete, "/api/v1/overwatch/agents", nil, id)
}

// SetOverride sets the health status of a backend. address is "<ip>" or "<ip>:<port>". When it returns, DNS answers
// have changed.
func (c *Client) SetOverride(ctx context.Context, service, address string, req OverrideRequest) (Override, error) {
	return send[Override](ctx, c, http.MethodPut, "/api/v1/overrides", req, service, address)
}

// ClearOverride removes an override. When it returns, DNS answers have changed.
func (c *Client) ClearOverride(ctx context.Context, service, address string) error {
	return c.remove(ctx, "/api/v1/overrides", service, address)
}

// ValidateTarget filters the backends of a validation run; an empty field matches all.
type ValidateTarget struct {
	Service string
	Address string
	Port    int
}

// answerMargin is the time for the transport of request and answer, in addition to the time of the node's work.
const answerMargin = 5 * time.Second

// Validate makes the node check backends now and waits for the results, at most ValidateTimeout and a margin.
func (c *Client) Validate(ctx context.Context, target ValidateTarget) (ValidationRun, error) {
	query := given(map[string]string{"service": target.Service, "address": target.Address})
	if target.Port != 0 {
		query.Set("port", strconv.Itoa(target.Port))
	}
	return ask[ValidationRun](ctx, c, call{
		method:  http.MethodPost,
		path:    "/api/v1/overwatch/validate",
		query:   query,
		timeout: ValidateTimeout + answerMargin,
	})
}

// CreateDomain creates a domain. When it returns, DNS answers contain the domain.
func (c *Client) CreateDomain(ctx context.Context, req DomainChange) (DomainDetail, error) {
	return send[DomainDetail](ctx, c, http.MethodPost, "/api/v1/domains", req)
}

// ChangeDomain changes a domain created through the API.
func (c *Client) ChangeDomain(ctx context.Context, name string, req DomainChange) (DomainDetail, error) {
	return send[DomainDetail](ctx, c, http.MethodPatch, "/api/v1/domains", req, name)
}

// DeleteDomain deletes a domain created through the API.
func (c *Client) DeleteDomain(ctx context.Context, name string) error {
	return c.remove(ctx, "/api/v1/domains", name)
}

// Reload makes the node reload its configuration.
func (c *Client) Reload(ctx context.Context) (Reload, error) {
	return ask[Reload](ctx, c, call{method: http.MethodPost, path: "/api/v1/config/reload", timeout: time.Minute})
}

// GenerateGossipKey returns a new random key. It changes nothing.
func (c *Client) GenerateGossipKey(ctx context.Context) (GossipKey, error) {
	return ask[GossipKey](ctx, c, call{method: http.MethodPost, path: "/api/v1/gossip/generate-key"})
}
