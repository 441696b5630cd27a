package api

import (
	"context"
	"net/http"
	"time"
)

// ConsequenceAnswer is the kind of answer that a name would have after a change.
type ConsequenceAnswer string

// The answers that make the node reject a change.
const (
	AnswerNone       ConsequenceAnswer = "none"        // no address at all
	AnswerLastResort ConsequenceAnswer = "last_resort" // the fallback answer of on_all_down
	AnswerZeroWeight ConsequenceAnswer = "zero_weight" // backends with weight 0, since no other backend may serve
)

// Consequence is a name that a change would leave with fewer backends than min_healthy, or with none.
type Consequence struct {
	Name       string            `json:"name"`
	Answer     ConsequenceAnswer `json:"answer"`
	QueryTypes []string          `json:"query_types"` // A, AAAA: the answers that get worse
	Serving    int               `json:"serving"`     // backends that would still serve
	Minimum    int               `json:"minimum"`     // min_healthy of the name, at least 1
}

// ConsequenceRequest selects the backends of the change: by id, by region and by agent.
type ConsequenceRequest struct {
	Backends []string `json:"backends,omitempty"`
	Regions  []string `json:"regions,omitempty"`
	Agents   []string `json:"agents,omitempty"`
	// Removed: the change deletes the backends, also as fallback answer. Otherwise it drains them.
	Removed bool `json:"removed,omitempty"`
	// ZeroWeight: the change sets the weight of the backends to 0. They serve only if no other backend may.
	ZeroWeight bool `json:"zero_weight,omitempty"`
}

// ConsequenceList is the answer of POST /api/v1/routing/consequences.
type ConsequenceList struct {
	Names       []Consequence `json:"names"`
	Total       int           `json:"total"`
	GeneratedAt time.Time     `json:"generated_at"`
}

// Consequences returns the names that would have fewer backends than min_healthy. It changes nothing.
func (c *Client) Consequences(ctx context.Context, req ConsequenceRequest) (ConsequenceList, error) {
	return send[ConsequenceList](ctx, c, http.MethodPost, "/api/v1/routing/consequences", req)
}

// IfSafe returns a context for changes with the parameter if_safe. A change that would leave a name with fewer backends
// than min_healthy fails with an *Error of status 409.
func IfSafe(ctx context.Context) context.Context { return context.WithValue(ctx, safeKey, true) }

// ReplacePlanned returns a context for requests that set an override, a weight or a drain: the request may replace a
// planned value of the same kind. By default such a request fails with an *Error of status 409.
func ReplacePlanned(ctx context.Context) context.Context {
	return context.WithValue(ctx, replaceKey, true)
}
