package api

import (
	"context"
	"net/http"

	"gslb.internal/shared/model"
)

// HealthCheck is a node's check of a server, with the values in effect. Secrets are redacted.
type HealthCheck struct {
	model.HealthCheck
	Note string `json:"note,omitempty"` // difference from the check that the agent requests; empty: none
}

// ServerHealthCheck is the answer of GET, PUT and PATCH
// /api/v1/servers/{id}/health-check.
type ServerHealthCheck struct {
	ServerID    string      `json:"server_id"`
	HealthCheck HealthCheck `json:"health_check"`
}

// HealthCheckChange is the body of PUT and PATCH: a merge patch. PUT sets omitted fields to their defaults; PATCH
// retains their values.
type HealthCheckChange = model.Patch[model.HealthCheck]

// ServerHealthCheck returns the health check of a server.
func (c *Client) ServerHealthCheck(ctx context.Context, id string) (ServerHealthCheck, error) {
	return get[ServerHealthCheck](ctx, c, "/api/v1/servers", nil, id, "health-check")
}

// ChangeServerHealthCheck changes the health check of a server of the API, from its next check on.
func (c *Client) ChangeServerHealthCheck(ctx context.Context, id string, req HealthCheckChange) (ServerHealthCheck,
	error) {
	return send[ServerHealthCheck](ctx, c, http.MethodPatch, "/api/v1/servers", req, id, "health-check")
}
