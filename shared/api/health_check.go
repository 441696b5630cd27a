package api

import (
	"context"
	"net/http"
)

// HealthCheck is a node's check of one server.
type HealthCheck struct {
	Enabled            bool   `json:"enabled"` // false where the node does not check the server
	Type               string `json:"type"`    // as in configuration files, such as https
	Path               string `json:"path"`
	Interval           string `json:"interval"`            // such as "5s"
	Timeout            string `json:"timeout"`             // such as "2s"
	HealthyThreshold   int    `json:"healthy_threshold"`   // successes in a row
	UnhealthyThreshold int    `json:"unhealthy_threshold"` // failures in a row
	ExpectedStatus     string `json:"expected_status"`     // of http and https, such as "200,301-308"; else empty
	Note               string `json:"note,omitempty"`      // how it differs from what the agent asks for; else empty
}

// ServerHealthCheck is the answer of GET, PUT and PATCH
// /api/v1/servers/{id}/health-check.
type ServerHealthCheck struct {
	ServerID    string      `json:"server_id"`
	HealthCheck HealthCheck `json:"health_check"`
}

// HealthCheckChange is the body of PUT, where nil fields get their defaults, and of PATCH, where
// they stay.
type HealthCheckChange struct {
	Enabled            *bool   `json:"enabled,omitempty"` // false: the node does not check this server
	Type               *string `json:"type,omitempty"`
	Path               *string `json:"path,omitempty"`
	Interval           *string `json:"interval,omitempty"`
	Timeout            *string `json:"timeout,omitempty"`
	HealthyThreshold   *int    `json:"healthy_threshold,omitempty"`
	UnhealthyThreshold *int    `json:"unhealthy_threshold,omitempty"`
	ExpectedStatus     *string `json:"expected_status,omitempty"`
}

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
