package api

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/shared/model"
)

// Server is a registered backend in GET /api/v1/servers. ID is "<service>:<address>:<port>", with an IPv6
// address without brackets.
type Server struct {
	ID      string `json:"id"`
	Service string `json:"service"`
	Address string `json:"address"`
	// Target is the host name that Address is resolved from, or ""; the addresses of a host name share Weight equally.
	Target          string          `json:"target,omitempty"`
	Port            int             `json:"port"`
	Weight          int             `json:"weight"`
	Region          string          `json:"region"`
	Source          Source          `json:"source"`
	EffectiveStatus EffectiveStatus `json:"effective_status"`
	AgentHealthy    *bool           `json:"agent_healthy"` // null where no agent reports
	// Agent is the id of the agent named in the declaration, or "". Reports of other agents have less weight.
	Agent     string    `json:"agent,omitempty"`
	Draining  bool      `json:"draining"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Overlay has the API values over a server of the configuration.
	Overlay *Overlay `json:"overlay,omitempty"`
}

// ServerList is the answer of GET /api/v1/servers.
type ServerList struct {
	Servers     []Server  `json:"servers"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
	// Targets are the servers of the API by host name, in the order of their ids, on each page. Their addresses are
	// among Servers.
	Targets []ServerTarget `json:"targets,omitempty"`
}

// ServerTarget is a server of the API by host name. ID is "<service>:<host name>:<port>". Its addresses share its
// weight equally. Secrets are redacted.
type ServerTarget struct {
	ID string `json:"id"`
	model.Server
	Addresses []string `json:"addresses"`         // its current backends
	Problem   string   `json:"problem,omitempty"` // reason why it has fewer addresses than its name, for people
}

// ServerChange is the body of POST /api/v1/servers, which requires service, port, region and an address or a target, of
// PATCH /api/v1/servers/{id}, and of POST /api/v1/domains/{name}/backends: a merge patch. Omitted fields keep their
// values; null resets a field to its default.
type ServerChange = model.Patch[model.Server]

// Named is the answer of a change of an object.
type Named struct {
	Message string `json:"message"`
	ID      string `json:"id"`
}

// DrainRequest is the optional body of POST /api/v1/servers/{id}/drain.
type DrainRequest struct {
	Duration string `json:"duration,omitempty"` // such as "30s"; empty: the domain's TTL
	// Share is the part of the weight that remains under the drain, from 0 to below 1.
	Share     float64    `json:"share,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Source    string     `json:"source,omitempty"`
	StartsAt  *time.Time `json:"starts_at,omitempty"`  // nil: immediately
	ExpiresIn string     `json:"expires_in,omitempty"` // from the start, such as "1h"; empty: no end
}

// Drain is the drain of a server, and the time at which its traffic has fallen to Share, the remaining part.
type Drain struct {
	Draining    bool       `json:"draining"`
	DrainEndsAt *time.Time `json:"drain_ends_at"` // null when not draining
	// Stage and SafeAt are as in ActiveDrain, for a drain by an operator, in effect or planned.
	Stage     DrainStage `json:"stage,omitempty"`
	SafeAt    *time.Time `json:"safe_at"`
	Share     float64    `json:"share"`
	StartsAt  *time.Time `json:"starts_at"`  // null: not planned
	ExpiresAt *time.Time `json:"expires_at"` // null: no end by time
}

// CreateServer registers a server. When it returns, DNS answers have changed.
func (c *Client) CreateServer(ctx context.Context, req ServerChange) (Named, error) {
	return send[Named](ctx, c, http.MethodPost, "/api/v1/servers", req)
}

// PatchServer changes a server of the API.
func (c *Client) PatchServer(ctx context.Context, id string, req ServerChange) (Named, error) {
	return send[Named](ctx, c, http.MethodPatch, "/api/v1/servers", req, id)
}

// DeleteServer deletes a server of the API.
func (c *Client) DeleteServer(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/servers", id)
}

// DrainServer reduces the traffic of a server to the share in req, 0 by default.
func (c *Client) DrainServer(ctx context.Context, id string, req DrainRequest) (Drain, error) {
	return send[Drain](ctx, c, http.MethodPost, "/api/v1/servers", req, id, "drain")
}

// UndrainServer ends the drain of a server.
func (c *Client) UndrainServer(ctx context.Context, id string) (Drain, error) {
	return send[Drain](ctx, c, http.MethodDelete, "/api/v1/servers", nil, id, "drain")
}
