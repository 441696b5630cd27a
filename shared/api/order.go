package api

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// OrderKind is the kind of an admin state.
type OrderKind string

// The kinds.
const (
	OrderOverride OrderKind = "override"
	OrderWeight   OrderKind = "weight"
	OrderDrain    OrderKind = "drain"
)

// OrderKinds lists the kinds.
func OrderKinds() []OrderKind { return []OrderKind{OrderOverride, OrderWeight, OrderDrain} }

// Order is an admin state of a backend, in effect or planned: an override, a weight or a drain. Address is
// "<ip>:<port>", with an IPv6 address in brackets. An override can have "<ip>", for all ports of the address.
type Order struct {
	Kind    OrderKind `json:"kind"`
	Service string    `json:"service"`
	Address string    `json:"address"`
	Healthy *bool     `json:"healthy,omitempty"` // of an override
	Weight  *int      `json:"weight,omitempty"`  // of a weight, instead of the declared weight
	// Share is the part of the weight that remains under a drain, from 0 to below 1; Duration is the time to reach it.
	Share     *float64   `json:"share,omitempty"`
	Duration  string     `json:"duration,omitempty"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"` // token name, or else the client address
	StartsAt  *time.Time `json:"starts_at"`  // null: it took effect at creation
	ExpiresAt *time.Time `json:"expires_at"` // null: never
	InForce   bool       `json:"in_force"`   // false: it is planned
}

// OrderList is the answer of GET /api/v1/overwatch/orders.
type OrderList struct {
	Orders      []Order   `json:"orders"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// WeightRequest is the body of PUT and PATCH /api/v1/overwatch/backends/{service}/{address}/{port}/weight. PUT requires
// Weight and Reason; with PATCH, omitted fields keep their values. ExpiresIn is a duration such as "1h" from the start,
// or empty for no end.
type WeightRequest struct {
	Weight    *int       `json:"weight"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source,omitempty"`
	StartsAt  *time.Time `json:"starts_at,omitempty"` // nil: immediately
	ExpiresIn string     `json:"expires_in,omitempty"`
}

// Orders lists the overrides, weights and drains of operators, in effect and planned.
func (c *Client) Orders(ctx context.Context) (OrderList, error) {
	return everyPage(ctx, c, "/api/v1/overwatch/orders", nil,
		func(l *OrderList) (*[]Order, int) { return &l.Orders, l.Total })
}

// SetWeight replaces the declared weight of a backend. When it returns, DNS answers have changed.
func (c *Client) SetWeight(ctx context.Context, service, address string, port int, req WeightRequest) (Order, error) {
	return send[Order](ctx, c, http.MethodPut, "/api/v1/overwatch/backends", req, service, address, strconv.Itoa(port),
		"weight")
}

// ClearWeight removes an operator's weight and restores the declared weight. When it returns, DNS answers have changed.
func (c *Client) ClearWeight(ctx context.Context, service, address string, port int) error {
	return c.remove(ctx, "/api/v1/overwatch/backends", service, address, strconv.Itoa(port), "weight")
}
