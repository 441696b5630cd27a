package api

import "time"

// Agent is one pinned agent.
type Agent struct {
	AgentID        string     `json:"agent_id"`
	Fingerprint    string     `json:"fingerprint"` // "sha256:<hex>"
	Region         string     `json:"region"`
	Services       []string   `json:"services"`
	Version        string     `json:"version"`
	FirstSeen      time.Time  `json:"first_seen"`
	LastSeen       *time.Time `json:"last_seen"` // null: not since this node started
	NotAfter       time.Time  `json:"not_after"`
	ExpiresInHours float64    `json:"expires_in_hours"` // negative after the expiry
	Revoked        bool       `json:"revoked"`
	RevokedAt      *time.Time `json:"revoked_at"`
	RevokedReason  string     `json:"revoked_reason"`
	Backends       int        `json:"backends"`
}

// AgentList is the answer of GET /api/v1/overwatch/agents. Total, Revoked and Expiring count all
// agents, not only those on the page.
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
