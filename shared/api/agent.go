package api

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Agent is a pinned agent.
type Agent struct {
	AgentID        string     `json:"agent_id"`
	Fingerprint    string     `json:"fingerprint"` // "sha256:<hex>"
	Region         string     `json:"region"`
	Services       []string   `json:"services"`
	Version        string     `json:"version"`
	FirstSeen      time.Time  `json:"first_seen"`
	LastSeen       *time.Time `json:"last_seen"` // null: no report since the start of this node
	LeftAt         *time.Time `json:"left_at"`   // time of its leave message; null: no leave message, or a later report
	NotAfter       time.Time  `json:"not_after"`
	ExpiresInHours float64    `json:"expires_in_hours"` // negative after the expiry
	Revoked        bool       `json:"revoked"`
	RevokedAt      *time.Time `json:"revoked_at"`
	RevokedReason  string     `json:"revoked_reason"`
	Backends       int        `json:"backends"`
	// Problems describe rejections of the agent and its backends, and copies of its identity.
	Problems []string `json:"problems"`
}

// AgentList is the answer of GET /api/v1/overwatch/agents. Total, Revoked and Expiring count all
// agents, on all pages.
type AgentList struct {
	Agents      []Agent   `json:"agents"`
	Total       int       `json:"total"`
	Revoked     int       `json:"revoked"`
	Expiring    int       `json:"expiring"` // within DefaultExpiringDays
	GeneratedAt time.Time `json:"generated_at"`
}

// ExpiringAgents is the answer of GET /api/v1/overwatch/agents/expiring, sorted by expiry, the
// earliest first.
type ExpiringAgents struct {
	Expiring      []Agent `json:"expiring"`
	Count         int     `json:"count"`
	ThresholdDays int     `json:"threshold_days"`
}

// Outcome is the answer of a change that creates no object.
type Outcome struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// RevokeRequest is the body of POST /api/v1/overwatch/agents/{agent_id}/revoke.
type RevokeRequest struct {
	Reason string `json:"reason"`
	// LockService makes the tokens of the agent's services admit no new agents until the tokens are
	// changed.
	LockService bool `json:"lock_service,omitempty"`
}

// Revocation is the answer to a RevokeRequest.
type Revocation struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Services []string `json:"services"` // services with a token that the agent used
	Locked   []string `json:"locked"`   // services with tokens that admit no new agents now
	Next     []string `json:"next"`     // next steps
}

// TokenLock is a service with locked tokens, which admit no new agents.
type TokenLock struct {
	Service   string    `json:"service"`
	AgentID   string    `json:"agent_id"` // the agent of the revocation that locked the tokens
	Reason    string    `json:"reason"`
	LockedAt  time.Time `json:"locked_at"`
	AdmitsNew bool      `json:"admits_new"` // agent_tokens has a new token, and only previous tokens are locked
}

// TokenLockList is the answer of GET /api/v1/overwatch/locks.
type TokenLockList struct {
	Locks       []TokenLock `json:"locks"`
	Total       int         `json:"total"`
	GeneratedAt time.Time   `json:"generated_at"`
}

// MaxUnpin is the largest number of pins that one call of DELETE /api/v1/overwatch/agents deletes.
const MaxUnpin = 500

// UnpinFilter selects pins of agents by Service and by one or both of the other fields. Revoked agents never match.
type UnpinFilter struct {
	Service       string
	NeverReported bool
	PinnedSince   time.Time // zero: pinned at any time
}

// Unpinned is the answer of DELETE /api/v1/overwatch/agents.
type Unpinned struct {
	Unpinned  []string `json:"unpinned"`  // with dry_run: the agents that would be unpinned; at most MaxUnpin
	Remaining int      `json:"remaining"` // number of pinned agents that still match
	DryRun    bool     `json:"dry_run"`
}

const (
	pathPinned = "/api/v1/overwatch/agents"
	pathLocks  = "/api/v1/overwatch/locks"
)

// Revoke rejects an agent permanently. Its reports leave the answers immediately.
func (c *Client) Revoke(ctx context.Context, id string, req RevokeRequest) (Revocation, error) {
	return send[Revocation](ctx, c, http.MethodPost, pathPinned, req, id, "revoke")
}

// UnpinMany deletes the pins of at most MaxUnpin agents. With dryRun it only returns them.
// Remaining is the number of further pins that the filter selects.
func (c *Client) UnpinMany(ctx context.Context, f UnpinFilter, dryRun bool) (Unpinned, error) {
	query := url.Values{"service": {f.Service}}
	if f.NeverReported {
		query.Set("never_reported", "true")
	}
	if !f.PinnedSince.IsZero() {
		query.Set("pinned_since", f.PinnedSince.UTC().Format(time.RFC3339))
	}
	if dryRun {
		query.Set("dry_run", "true")
	}
	return ask[Unpinned](ctx, c, call{method: http.MethodDelete, path: pathPinned, query: query})
}

// TokenLocks lists the services with locked tokens, which admit no new agents.
func (c *Client) TokenLocks(ctx context.Context) (TokenLockList, error) {
	return get[TokenLockList](ctx, c, pathLocks, nil)
}

// UnlockToken removes the lock of the tokens of a service: the tokens admit new agents.
func (c *Client) UnlockToken(ctx context.Context, service string) (Outcome, error) {
	return send[Outcome](ctx, c, http.MethodDelete, pathLocks, nil, service)
}
