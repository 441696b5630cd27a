package api

import (
	"context"
	"net/http"

	"gslb.internal/shared/model"
)

// HealthCheck is a node's check of a server, with the values in effect. Secrets are redacted.
type HealthCheck struct {
	model.HealthCheck
	Note string `json:"note,omitempty"` // how it differs from the check that the agent requests; else empty
}

// ServerHealthCheck is the answer of GET, PUT and PATCH
// /api/v1/servers/{id}/health-check.
type ServerHealthCheck struct {
	ServerID    string      `json:"server_id"`
	HealthCheck HealthCheck `json:"health_check"`
}

// HealthCheckChange is the body of PUT, where omitted fields get their defaults, and of PATCH, where they keep their
// values: a merge patch.
type HealthCheckChange = model.Patch[model.HealthCheck]

// ServerHealthCheck shows how a server is checked.
func (c *Client) ServerHealthCheck(ctx context.Context, id string) (ServerHealthCheck, error) {
	return get[ServerHealthCheck](ctx, c, "/api/v1/servers", nil, id, "health-check")
}

// ChangeServerHealthCheck changes how a server that the API has created is
// checked, from its next check on.
func (c *Client) ChangeServerHealthCheck(ctx context.Context, id string, req HealthCheckChange) (ServerHealthCheck,
	error) {
	return send[ServerHealthCheck](ctx, c, http.MethodPatch, "/api/v1/servers", req, id, "health-check")
}
