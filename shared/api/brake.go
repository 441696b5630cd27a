package api

import (
	"context"
	"net/http"
	"time"
)

// BrakeConcern is the kind of report that a brake holds back.
type BrakeConcern string

// The concerns. Each name has a brake for each.
const (
	BrakeUnhealthy BrakeConcern = "unhealthy" // agents call backends unhealthy
	BrakeWarning   BrakeConcern = "warning"   // agents warn early
)

// Brake is a name of which agents alone would have taken too much at once. What they say is held: the backends are
// served as this node's own checks say.
type Brake struct {
	Service  string       `json:"service"`
	Concern  BrakeConcern `json:"concern"`
	Since    time.Time    `json:"since"`
	Until    time.Time    `json:"until"`    // then the agents are believed
	Backends []string     `json:"backends"` // ids of those that are held now
}

// BrakeList is the answer of GET /api/v1/overwatch/brakes.
type BrakeList struct {
	Brakes      []Brake   `json:"brakes"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

const pathBrakes = "/api/v1/overwatch/brakes"

// Brakes returns the brakes that are on.
func (c *Client) Brakes(ctx context.Context) (BrakeList, error) {
	return everyPage(ctx, c, pathBrakes, nil, func(l *BrakeList) (*[]Brake, int) { return &l.Brakes, l.Total })
}

// ReleaseBrake ends the brake of a name: reports of its agents count again.
func (c *Client) ReleaseBrake(ctx context.Context, service string) (Outcome, error) {
	return send[Outcome](ctx, c, http.MethodDelete, pathBrakes, nil, service)
}
