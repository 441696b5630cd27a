package api

import (
	"context"
	"encoding/json"
	"time"
)

// ServerOverlayChanged is the message after a change of the overlay of a server of the configuration.
const ServerOverlayChanged = "server changed over the configuration"

// Overlay has the API values over an object of the configuration file.
type Overlay struct {
	// Fields are the API values that replace values of the file, named as in the body of PATCH.
	Fields map[string]json.RawMessage `json:"fields"`
	// Configured are the values of the file for the same fields. Fields that the file omits may be missing.
	Configured map[string]json.RawMessage `json:"configured"`
	By         string                     `json:"by"` // actor of the latest change
	UpdatedAt  time.Time                  `json:"updated_at"`
	// InForce is false if the file lacks the object, or the values conflict with the file. The node retains the values.
	InForce bool `json:"in_force"`
}

// OverlaidObject is an object with an overlay. Kind is domain, region or server.
type OverlaidObject struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Overlay
	// Reason states why the overlay is not in effect, and how to remove it; empty: it is in effect.
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

// ResetDomain removes the overlay of a domain: the values of the file apply.
func (c *Client) ResetDomain(ctx context.Context, name string) error {
	return c.remove(ctx, "/api/v1/domains", name, "overlay")
}

// ResetRegion removes the overlay of a region: the values of the file apply.
func (c *Client) ResetRegion(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/regions", id, "overlay")
}

// ResetServer removes the overlay of a server: the values of the file apply.
func (c *Client) ResetServer(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/servers", id, "overlay")
}
