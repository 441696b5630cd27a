package api

import (
	"context"
	"net/http"
	"time"
)

// ConsequenceAnswer is the kind of answer that a name would have after a change.
type ConsequenceAnswer string

// The answers that a change is refused for.
const (
	AnswerNone       ConsequenceAnswer = "none"        // no address at all
	AnswerLastResort ConsequenceAnswer = "last_resort" // what on_all_down says
	AnswerZeroWeight ConsequenceAnswer = "zero_weight" // backends whose weight is 0, since no other may serve
)

// Consequence is a name that a change would leave with too few backends, or with none.
type Consequence struct {
	Name       string            `json:"name"`
	Answer     ConsequenceAnswer `json:"answer"`
	QueryTypes []string          `json:"query_types"` // A, AAAA: the answers that get worse
	Serving    int               `json:"serving"`     // backends that would be left to serve
	Minimum    int               `json:"minimum"`     // how many the name needs (min_healthy), at least 1
}

// ConsequenceRequest says what would go: backends by id, and all that are in regions or live by agents.
type ConsequenceRequest struct {
	Backends []string `json:"backends,omitempty"`
	Regions  []string `json:"regions,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Removed: they would be gone, and not even a last resort. Otherwise they would be drained.
	Removed bool `json:"removed,omitempty"`
	// ZeroWeight: they would have the weight 0, and serve only where no other may.
	ZeroWeight bool `json:"zero_weight,omitempty"`
}

// ConsequenceList is the answer of POST /api/v1/routing/consequences.
type ConsequenceList struct {
	Names       []Consequence `json:"names"`
	Total       int           `json:"total"`
	GeneratedAt time.Time     `json:"generated_at"`
}

// Consequences returns the names that would be left with too few backends. Nothing changes.
func (c *Client) Consequences(ctx context.Context, req ConsequenceRequest) (ConsequenceList, error) {
	return send[ConsequenceList](ctx, c, http.MethodPost, "/api/v1/routing/consequences", req)
}

// IfSafe returns a context with which a change is refused with an *Error of status 409 if it would leave a name with
// too few backends (?if_safe=true). It is for the changes that have that parameter.
func IfSafe(ctx context.Context) context.Context { return context.WithValue(ctx, safeKey, true) }

// ReplacePlanned returns a context for requests that give an override, a weight or a drain: it may replace a planned
// one of the same kind. Without it the request fails with an *Error of status 409.
func ReplacePlanned(ctx context.Context) context.Context {
	return context.WithValue(ctx, replaceKey, true)
}
