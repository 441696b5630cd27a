package api

import (
	"context"
	"encoding/json"
	"time"
)

// ServerOverlayChanged is the message about a changed overlay of a server of the configuration.
const ServerOverlayChanged = "server changed over the configuration"

// Overlay has the values that the API has laid over an object of the configuration.
type Overlay struct {
	// Fields are the values instead of the file's, named as in the body of PATCH.
	Fields map[string]json.RawMessage `json:"fields"`
	// Configured are the file's values of the same. One that the file leaves out may be missing.
	Configured map[string]json.RawMessage `json:"configured"`
	By         string                     `json:"by"` // who laid it last
	UpdatedAt  time.Time                  `json:"updated_at"`
	// InForce is false if the file does not have the object, or does not go with the values. They are kept.
	InForce bool `json:"in_force"`
}

// OverlaidObject is an object over which something is laid. Kind is domain, region or server.
type OverlaidObject struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Overlay
	// Reason states why it is not in effect, and what takes it away; empty where it is.
	Reason string `json:"reason,omitempty"`
}

// OverlayList is the answer of GET /api/v1/config/overlays.
type OverlayList struct {
	Overlays    []OverlaidObject `json:"overlays"`
	Total       int              `json:"total"`
	GeneratedAt time.Time        `json:"generated_at"`
}

// Overlays lists the overlays: values set through the API on objects that the configuration declares.
func (c *Client) Overlays(ctx context.Context) (OverlayList, error) {
	return get[OverlayList](ctx, c, "/api/v1/config/overlays", nil)
}

// ResetDomain removes the overlay of a domain: the values of the file count again.
func (c *Client) ResetDomain(ctx context.Context, name string) error {
	return c.remove(ctx, "/api/v1/domains", name, "overlay")
}

// ResetRegion removes the overlay of a region: the values of the file count again.
func (c *Client) ResetRegion(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/regions", id, "overlay")
}

// ResetServer removes the overlay of a server: the values of the file count again.
func (c *Client) ResetServer(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/servers", id, "overlay")
}
