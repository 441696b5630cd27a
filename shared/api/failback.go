package api

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/shared/model"
)

// PendingFailback is a region of a domain that awaits failback: it was down, and its clients stay in other regions.
type PendingFailback struct {
	Domain   string         `json:"domain"`
	Region   string         `json:"region"`
	Failback model.Failback `json:"failback"` // setting of the domain
	Since    time.Time      `json:"since"`    // when the clients moved to other regions
	Serving  int            `json:"serving"`  // backends of the region that may serve on this node
	Required int            `json:"required"` // serving backends that the region needs
	// CanServeSince is the time since when this node considers the region able to serve; null: it cannot serve.
	CanServeSince *time.Time `json:"can_serve_since"`
	ReturnsAt     *time.Time `json:"returns_at"` // time of the automatic failback; null: none
}

// FailbackList is the answer of GET /api/v1/overwatch/failbacks.
type FailbackList struct {
	Failbacks   []PendingFailback `json:"failbacks"`
	Total       int               `json:"total"`
	GeneratedAt time.Time         `json:"generated_at"`
}

// FailbackRequest is the optional body of POST /api/v1/domains/{name}/failback.
type FailbackRequest struct {
	// Regions are the regions whose clients return. Empty: all that await failback and can serve.
	Regions []string `json:"regions,omitempty"`
}

// FailbackDone is the answer of POST /api/v1/domains/{name}/failback.
type FailbackDone struct {
	Success  bool              `json:"success"`
	Message  string            `json:"message"`
	Returned []string          `json:"returned"` // regions whose clients return
	Pending  []PendingFailback `json:"pending"`  // regions that still await failback
}

// Failbacks lists the regions that await failback.
func (c *Client) Failbacks(ctx context.Context) (FailbackList, error) {
	return everyPage(ctx, c, "/api/v1/overwatch/failbacks", nil, func(l *FailbackList) (*[]PendingFailback, int) {
		return &l.Failbacks, l.Total
	})
}

// FailBack returns the clients of regions of a domain that await failback.
func (c *Client) FailBack(ctx context.Context, domain string, r FailbackRequest) (FailbackDone, error) {
	return send[FailbackDone](ctx, c, http.MethodPost, "/api/v1/domains", r, domain, "failback")
}
