package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// RevokeRequest is the body of POST /api/v1/overwatch/agents/{agent_id}/revoke.
type RevokeRequest struct {
	Reason string `json:"reason"`
	// LockService has the tokens of the agent's services admit no new agents until they are changed.
	LockService bool `json:"lock_service,omitempty"`
}

// Revocation is the answer to a RevokeRequest.
type Revocation struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Services []string `json:"services"` // whose tokens the agent knew
	Locked   []string `json:"locked"`   // those of them whose tokens admit no new agents now
	Next     []string `json:"next"`     // what to do next, step by step
}

// TokenLock is a service of which tokens admit no new agents.
type TokenLock struct {
	Service   string    `json:"service"`
	AgentID   string    `json:"agent_id"` // that was revoked with it
	Reason    string    `json:"reason"`
	LockedAt  time.Time `json:"locked_at"`
	AdmitsNew bool      `json:"admits_new"` // the token of agent_tokens is another by now; only previous ones are locked
}

// TokenLockList is the answer of GET /api/v1/overwatch/locks.
type TokenLockList struct {
	Locks       []TokenLock `json:"locks"`
	Total       int         `json:"total"`
	GeneratedAt time.Time   `json:"generated_at"`
}

// MaxUnpin is how many pins one call of DELETE /api/v1/overwatch/agents deletes at most.
const MaxUnpin = 500

// UnpinFilter says which agents' pins are meant: of a service, and by one or both of the others. Revoked agents never are.
type UnpinFilter struct {
	Service       string
	NeverReported bool
	PinnedSince   time.Time // zero: at any time
}

// Unpinned is the answer of DELETE /api/v1/overwatch/agents.
type Unpinned struct {
	Unpinned  []string `json:"unpinned"`  // of a dry run: who would be; at most MaxUnpin
	Remaining int      `json:"remaining"` // that are meant and pinned still
	DryRun    bool     `json:"dry_run"`
}

const (
	pathPinned = "/api/v1/overwatch/agents"
	pathLocks  = "/api/v1/overwatch/locks"
)

// Revoke refuses an agent from now on; what it reported leaves at once.
func (c *Client) Revoke(ctx context.Context, id string, req RevokeRequest) (Revocation, error) {
	p, err := under(pathPinned, id, "revoke")
	if err != nil {
		return Revocation{}, err
	}
	return send[Revocation](ctx, c, http.MethodPost, p, req)
}

// UnpinMany deletes the pins of at most MaxUnpin agents, or with dryRun tells which. Remaining says how many more there are.
func (c *Client) UnpinMany(ctx context.Context, f UnpinFilter, dryRun bool) (Unpinned, error) {
	query := url.Values{"service": {f.Service}}
	if f.NeverReported {
		query.Set("never_reported", "true")
	}
	if !f.PinnedSince.IsZero() {
		query.Set("pinned_since", f.PinnedSince.UTC().Format(time.RFC3339))
	}
	if dryRun {
		query.Set("dry_run", strconv.FormatBool(dryRun))
	}
	var answer Unpinned
	err := c.do(ctx, call{method: http.MethodDelete, path: pathPinned, query: query}, &answer)
	return answer, err
}

// TokenLocks lists the services of which tokens admit no new agents.
func (c *Client) TokenLocks(ctx context.Context) (TokenLockList, error) {
	return get[TokenLockList](ctx, c, pathLocks, nil)
}

// UnlockToken has the locked tokens of a service admit new agents again.
func (c *Client) UnlockToken(ctx context.Context, service string) (Outcome, error) {
	p, err := under(pathLocks, service)
	if err != nil {
		return Outcome{}, err
	}
	var answer Outcome
	err = c.do(ctx, call{method: http.MethodDelete, path: p}, &answer)
	return answer, err
}
