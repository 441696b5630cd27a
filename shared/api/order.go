package api

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// OrderKind is the kind of an operator's order about a backend.
type OrderKind string

// The kinds.
const (
	OrderOverride OrderKind = "override"
	OrderWeight   OrderKind = "weight"
	OrderDrain    OrderKind = "drain"
)

// OrderKinds lists the kinds.
func OrderKinds() []OrderKind { return []OrderKind{OrderOverride, OrderWeight, OrderDrain} }

// Order is an order of an operator about a backend: active, or planned. Address is "<ip>" for all ports of
// that address, which only an override is about, or "<ip>:<port>", with an IPv6 address in brackets.
type Order struct {
	Kind    OrderKind `json:"kind"`
	Service string    `json:"service"`
	Address string    `json:"address"`
	Healthy *bool     `json:"healthy,omitempty"` // of an override
	Weight  *int      `json:"weight,omitempty"`  // of a weight, in the place of the declared one
	// Share is the part of its weight that a drain leaves, from 0 to below 1; Duration is how long the way there takes.
	Share     *float64   `json:"share,omitempty"`
	Duration  string     `json:"duration,omitempty"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"` // whose token it was, else the client's address
	StartsAt  *time.Time `json:"starts_at"`  // null: it began when it was made
	ExpiresAt *time.Time `json:"expires_at"` // null: never
	InForce   bool       `json:"in_force"`   // false: it is planned
}

// OrderList is the answer of GET /api/v1/overwatch/orders.
type OrderList struct {
	Orders      []Order   `json:"orders"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// WeightRequest is the body of PUT and PATCH /api/v1/overwatch/backends/{service}/{address}/{port}/weight. Weight and
// Reason are required but by PATCH, where what is omitted stays; ExpiresIn is a duration such as "1h" from the start,
// empty for no end.
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

// SetWeight gives a backend another weight than the declared one. When it returns, DNS answers have changed.
func (c *Client) SetWeight(ctx context.Context, service, address string, port int, req WeightRequest) (Order, error) {
	return send[Order](ctx, c, http.MethodPut, "/api/v1/overwatch/backends", req, service, address, strconv.Itoa(port),
		"weight")
}

// ClearWeight removes an operator's weight: the declared one counts again. When it returns, DNS answers have changed.
func (c *Client) ClearWeight(ctx context.Context, service, address string, port int) error {
	return c.remove(ctx, "/api/v1/overwatch/backends", service, address, strconv.Itoa(port), "weight")
}
