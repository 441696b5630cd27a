package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// BrakeConcern is the kind of report that mass-failure protection holds.
type BrakeConcern string

// The concerns. Agents and regions have only the first.
const (
	BrakeUnhealthy BrakeConcern = "unhealthy" // agents report backends as unhealthy
	BrakeWarning   BrakeConcern = "warning"   // agents report early warnings
)

// Brake is a mass-failure hold: agent reports that no own check confirms would remove more serving backends of a name,
// a region or an agent than mass-failure protection permits. Own checks decide about the backends during the hold.
type Brake struct {
	Service string `json:"service"` // the name; empty for a hold of a region or an agent
	Region  string `json:"region,omitempty"`
	// Agent is the agent of the reports. With a region, the hold prevents this agent from
	// removing all serving backends of the region.
	Agent    string       `json:"agent,omitempty"`
	Concern  BrakeConcern `json:"concern"`
	Since    time.Time    `json:"since"`
	Until    time.Time    `json:"until"`    // the hold ends and agent reports apply; zero: no time limit
	Backends []string     `json:"backends"` // ids of the backends under this hold
}

// Scope returns the kind and the name of the protected object, for Client.ReleaseBrake.
func (b *Brake) Scope() (scope, subject string) {
	switch {
	case b.Region != "":
		return BrakeOfRegion, b.Region
	case b.Agent != "":
		return BrakeOfAgent, b.Agent
	}
	return BrakeOfName, b.Service
}

// BrakeList is the answer of GET /api/v1/overwatch/brakes.
type BrakeList struct {
	Brakes      []Brake   `json:"brakes"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

const pathBrakes = "/api/v1/overwatch/brakes"

// Brakes returns the holds of mass-failure protection.
func (c *Client) Brakes(ctx context.Context) (BrakeList, error) {
	return everyPage(ctx, c, pathBrakes, nil, func(l *BrakeList) (*[]Brake, int) { return &l.Brakes, l.Total })
}

// The scopes of a hold.
const (
	BrakeOfName   = "name"
	BrakeOfAgent  = "agent"
	BrakeOfRegion = "region"
)

// ReleaseBrake ends the hold of a name, an agent or a region: agent reports apply from then on.
func (c *Client) ReleaseBrake(ctx context.Context, scope, subject string) (Outcome, error) {
	var query url.Values
	if scope != BrakeOfName {
		query = url.Values{"scope": {scope}}
	}
	return ask[Outcome](ctx, c, call{method: http.MethodDelete, path: pathBrakes, names: []string{subject}, query: query})
}
