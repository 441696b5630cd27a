package store

import (
	"net/netip"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Pin is the stored certificate of an agent with the services that it has proved.
type Pin struct {
	// AgentID is the id of the agent with the pinned certificate.
	AgentID        string          `json:"agent_id"`
	CertificateDER []byte          `json:"certificate"`
	Region         string          `json:"region"`
	Version        string          `json:"version"`
	Services       []PinnedService `json:"services"`
	FirstSeen      time.Time       `json:"first_seen"`
	Revoked        bool            `json:"revoked,omitempty"`
	RevokedAt      time.Time       `json:"revoked_at,omitzero"`
	RevokedReason  string          `json:"revoked_reason,omitempty"`
	// Superseded, unless zero, is the SHA-256 of a certificate that an operator has unpinned. No certificate is then
	// pinned, and the agent may enroll with any other certificate.
	Superseded [32]byte `json:"superseded,omitzero"`
	// Unreported is true from the pinning of the agent until its first accepted heartbeat or transition.
	Unreported bool `json:"unreported,omitempty"`
}

// TokenLock is a service with tokens that admit no new agents.
type TokenLock struct {
	Service string `json:"service"`
	// Tokens contains names that do not reveal the tokens: identity.TokenMark without a certificate.
	Tokens  [][16]byte `json:"tokens"`
	AgentID string     `json:"agent_id"`
	Reason  string     `json:"reason"`
	At      time.Time  `json:"at"`
}

// PinChange contains changes of pins and locks that are stored together.
type PinChange struct {
	Put    []Pin
	Drop   []string // agent ids
	Lock   []TokenLock
	Unlock []string // services
	// Alone restricts the deletion of the pins and locks to this node. Each other node decides separately.
	Alone bool
}

// PinnedService is a service with a token that an agent has proved.
type PinnedService struct {
	Name      string    `json:"name"`
	TokenMark [16]byte  `json:"token_mark"` // identity.TokenMark of the proved token
	ProvedAt  time.Time `json:"proved_at"`
}

// Status is the stored state of a backend for the next start. Times are wall clock times.
type Status struct {
	Service string     `json:"-"`
	Address netip.Addr `json:"-"`
	Port    uint16     `json:"-"`
	// Gone deletes the record and ignores the other fields.
	Gone bool `json:"-"`

	Healthy       bool          `json:"healthy,omitempty"`
	Unknown       bool          `json:"unknown,omitempty"` // no check result yet
	Latency       time.Duration `json:"latency,omitempty"` // of the node's last check; 0: unknown
	At            time.Time     `json:"at"`
	LastHealthyAt time.Time     `json:"last_healthy_at,omitzero"`
	CreatedAt     time.Time     `json:"created_at,omitzero"` // first receipt; zero: stored by an earlier version
	// AgentID is the agent that reports the backend. Weight, Region and Check are then values of its report.
	AgentID      string     `json:"agent_id,omitempty"`
	AgentSourced bool       `json:"agent_sourced,omitempty"` // only the agent declares the backend
	Weight       int        `json:"weight,omitempty"`
	Region       string     `json:"region,omitempty"`
	Check        check.Spec `json:"check,omitzero"`
	HeardAt      netip.Addr `json:"heard_at,omitzero"` // proved source address of the agent
	// AgentDrainSince and AgentDrainOver describe the agent's own drain. AgentLeftAt is the time of its leave message;
	// zero: no leave message.
	AgentDrainSince time.Time     `json:"agent_drain_since,omitzero"`
	AgentDrainOver  time.Duration `json:"agent_drain_over,omitempty"`
	AgentLeftAt     time.Time     `json:"agent_left_at,omitzero"`
	// HeldSince and WarningHeldSince are the start times of the mass-failure holds of the backend; zero: no hold.
	HeldSince        time.Time `json:"held_since,omitzero"`
	WarningHeldSince time.Time `json:"warning_held_since,omitzero"`
	// Bleeds are the effects of the agent's early warnings (processor, memory, errors) on the share; zero: no effect.
	Bleeds [3]Bleed `json:"bleeds,omitzero"`
}

// Bleed is the effect of an early warning: its level at Since, its duration Over, and whether the warning has ended.
type Bleed struct {
	Over  time.Duration `json:"over,omitempty"`
	Depth time.Duration `json:"depth,omitempty"`
	Since time.Time     `json:"since,omitzero"`
	Ended bool          `json:"ended,omitempty"`
}

// Order is an admin state of a backend: an override, which has precedence over every check, a weight, or a drain. Each
// kind has a separate record.
type Order struct {
	Kind      api.OrderKind `json:"-"`
	Service   string        `json:"service"`
	Address   string        `json:"address"` // "ip" for all ports, or "ip:port"
	Healthy   bool          `json:"healthy"`
	Weight    int           `json:"weight,omitempty"`
	Share     float64       `json:"share,omitempty"` // the remaining share during a drain
	Over      time.Duration `json:"over,omitempty"`  // the duration of a drain
	Reason    string        `json:"reason"`
	Source    string        `json:"source"`
	CreatedAt time.Time     `json:"created_at"`
	CreatedBy string        `json:"created_by"`
	StartsAt  *time.Time    `json:"starts_at,omitempty"`  // nil: at its creation
	ExpiresAt *time.Time    `json:"expires_at,omitempty"` // nil: never
	Begun     bool          `json:"-"`                    // the audit log of this node contains its start
}

// Node is an agent that an operator has declared.
type Node struct {
	ID           string    `json:"id"`
	Address      string    `json:"address"` // empty: not given
	Port         int       `json:"port"`    // 0: not given
	Region       string    `json:"region"`
	Version      string    `json:"version"`
	RegisteredAt time.Time `json:"registered_at"`
	Owner        string    `json:"owner,omitempty"`
}

// Key returns the id.
func (n *Node) Key() string { return n.ID }
