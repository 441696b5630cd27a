package api

import "time"

// Backend is a backend as the node sees it: agent report, own check, admin state and the resulting status.
type Backend struct {
	ID      string `json:"id"`
	Service string `json:"service"`
	Address string `json:"address"`
	Port    int    `json:"port"`
	// Target is the host name that Address is resolved from, or "".
	Target              string          `json:"target,omitempty"`
	AgentID             string          `json:"agent_id"` // empty where no agent reports
	Region              string          `json:"region"`
	Weight              int             `json:"weight"`
	Share               float64         `json:"share"` // part of the weight that is in use, 0 to 1
	Draining            bool            `json:"draining"`
	EffectiveStatus     EffectiveStatus `json:"effective_status"`
	MayServe            bool            `json:"may_serve"`
	Held                bool            `json:"held"`          // mass-failure protection ignores a report of its agent
	Reason              string          `json:"reason"`        // one sentence: the reason of the status
	AgentHealthy        *bool           `json:"agent_healthy"` // null where no agent reports
	AgentLastSeen       *time.Time      `json:"agent_last_seen"`
	ValidationHealthy   *bool           `json:"validation_healthy"` // null: no result yet
	ValidationLastCheck *time.Time      `json:"validation_last_check"`
	ValidationError     *string         `json:"validation_error"` // null after a success
	ValidationLatencyMS *float64        `json:"validation_latency_ms"`
	// ValidationNote states how the node's own check differs from the check that the agent requests, and the reason. Null:
	// the checks are the same.
	ValidationNote *string `json:"validation_note"`
	// ValidationVotes describes a failure by own checks with the votes of other nodes. Null: there is no failure, or
	// agreement between nodes is off.
	ValidationVotes *string         `json:"validation_votes"`
	Override        *ActiveOverride `json:"override"` // null when none is in effect
	// WeightOverride is the weight of an operator, which replaces Weight; null: none.
	WeightOverride *ActiveWeight `json:"weight_override"`
	// Drain is the drain of an operator; null: none. A drain of the agent sets only Draining.
	Drain *ActiveDrain `json:"drain"`
}

// ActiveOrder has the fields that the active orders on a backend share.
type ActiveOrder struct {
	Reason    string     `json:"reason"`
	By        string     `json:"by"`
	At        time.Time  `json:"at"`
	ExpiresAt *time.Time `json:"expires_at"` // null: never
}

// ActiveOverride is the active override on a backend.
type ActiveOverride struct {
	Healthy bool `json:"healthy"`
	ActiveOrder
}

// ActiveWeight is the active weight of a backend that an operator has set.
type ActiveWeight struct {
	Weight int `json:"weight"`
	ActiveOrder
}

// ActiveDrain is an operator's drain of a backend in effect. The weight falls to Share, a part of it, until EndsAt. The
// drain expires at ExpiresAt.
type ActiveDrain struct {
	Share  float64   `json:"share"`
	EndsAt time.Time `json:"ends_at"`
	// Stage is empty in answers of version 0.9.0.
	Stage DrainStage `json:"stage,omitempty"`
	// SafeAt is the time from which the backend is safe to stop unless something changes; null: unknown.
	SafeAt *time.Time `json:"safe_at"`
	ActiveOrder
}

// DrainStage is the progress of a drain.
type DrainStage string

// The stages of a drain.
const (
	DrainPlanned  DrainStage = "planned"  // starts later
	DrainDraining DrainStage = "draining" // the share of the backend falls
	DrainReduced  DrainStage = "reduced"  // has ended at a share above 0: the backend remains in answers
	DrainAnswered DrainStage = "answered" // has ended, and the node still answers with the backend
	DrainCached   DrainStage = "cached"   // no answer has the backend, and resolvers may still cache one
	DrainSafe     DrainStage = "safe"     // no answer has the backend, and the TTL of the last one has expired
)

// BackendList is the answer of GET /api/v1/overwatch/backends.
type BackendList struct {
	Backends    []Backend `json:"backends"`
	Total       int       `json:"total"`
	GeneratedAt time.Time `json:"generated_at"`
}

// Stats is the answer of GET /api/v1/overwatch/stats.
type Stats struct {
	ClusterName         string         `json:"cluster_name"` // for people; empty: none
	TotalBackends       int            `json:"total_backends"`
	HealthyBackends     int            `json:"healthy_backends"`
	ServingBackends     int            `json:"serving_backends"` // may serve now: without drained ones
	UnhealthyBackends   int            `json:"unhealthy_backends"`
	StaleBackends       int            `json:"stale_backends"`
	DrainingBackends    int            `json:"draining_backends"`
	ActiveOverrides     int            `json:"active_overrides"`
	ValidationEnabled   bool           `json:"validation_enabled"`
	ValidationSuspended bool           `json:"validation_suspended"`
	HeldBackends        int            `json:"held_backends"`
	ValidatedBackends   int            `json:"validated_backends"`
	DisagreementCount   int            `json:"disagreement_count"` // the agent report and the own check differ
	ActiveAgents        int            `json:"active_agents"`
	UniqueServices      int            `json:"unique_services"`
	BackendsByService   map[string]int `json:"backends_by_service"`
	BackendsByRegion    map[string]int `json:"backends_by_region"`
	GeneratedAt         time.Time      `json:"generated_at"`
}

// ValidationResult is the result of a check made on request.
type ValidationResult struct {
	Service   string  `json:"service"`
	Address   string  `json:"address"`
	Port      int     `json:"port"`
	Healthy   bool    `json:"healthy"`
	LatencyMS float64 `json:"latency_ms"`
	Error     *string `json:"error"` // null after a success
}

// ValidationRun is the answer of POST /api/v1/overwatch/validate.
type ValidationRun struct {
	Results []ValidationResult `json:"results"`
	Checked int                `json:"checked"`
}

// Override is a health status set by an operator. Address is "<ip>" for all ports of the address, or "<ip>:<port>",
// with an IPv6 address in brackets.
type Override struct {
	Service   string     `json:"service"`
	Address   string     `json:"address"`
	Healthy   bool       `json:"healthy"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"` // token name, or else the client address
	StartsAt  *time.Time `json:"starts_at"`  // null: it took effect at creation
	ExpiresAt *time.Time `json:"expires_at"` // null: never
	InForce   bool       `json:"in_force"`   // false: it is planned
}

// OverrideList is the answer of GET /api/v1/overrides.
type OverrideList struct {
	Overrides   []Override `json:"overrides"`
	Total       int        `json:"total"`
	GeneratedAt time.Time  `json:"generated_at"`
}

// OverrideRequest is the body that sets an override. PUT requires Healthy and Reason; with PATCH, omitted fields keep
// their values. ExpiresIn is a duration such as "30m" from the start, or empty for no end.
type OverrideRequest struct {
	Healthy   *bool      `json:"healthy"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source,omitempty"`
	StartsAt  *time.Time `json:"starts_at,omitempty"` // nil: immediately
	ExpiresIn string     `json:"expires_in,omitempty"`
}
