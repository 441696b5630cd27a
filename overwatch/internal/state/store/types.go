package store

import (
	"net/netip"
	"time"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Pin is the memory of an agent: the certificate of its id, and the services that it has proved.
type Pin struct {
	// AgentID is the id that the certificate is pinned for.
	AgentID        string          `json:"agent_id"`
	CertificateDER []byte          `json:"certificate"`
	Region         string          `json:"region"`
	Version        string          `json:"version"`
	Services       []PinnedService `json:"services"`
	FirstSeen      time.Time       `json:"first_seen"`
	Revoked        bool            `json:"revoked,omitempty"`
	RevokedAt      time.Time       `json:"revoked_at,omitzero"`
	RevokedReason  string          `json:"revoked_reason,omitempty"`
	// Superseded, unless zero, is the SHA-256 of a certificate that an operator has taken from the agent. No
	// certificate is pinned then, and any other than this one may be.
	Superseded [32]byte `json:"superseded,omitzero"`
	// Unreported means that no heartbeat or transition of the agent has been believed since it was pinned.
	Unreported bool `json:"unreported,omitempty"`
}

// TokenLock is a service with tokens that admit no new agents.
type TokenLock struct {
	Service string `json:"service"`
	// names of the tokens, which do not reveal them: identity.TokenMark for no certificate
	Tokens  [][16]byte `json:"tokens"`
	AgentID string     `json:"agent_id"`
	Reason  string     `json:"reason"`
	At      time.Time  `json:"at"`
}

// PinChange holds changes of pins and locks that are stored together.
type PinChange struct {
	Put    []Pin
	Drop   []string // agent ids
	Lock   []TokenLock
	Unlock []string // services
	// Alone tells that the pins and locks are deleted on this node only: every other node decides for itself.
	Alone bool
}

// PinnedService is a service whose token an agent has proved.
type PinnedService struct {
	Name      string    `json:"name"`
	TokenMark [16]byte  `json:"token_mark"` // of the token that was proved: identity.TokenMark
	ProvedAt  time.Time `json:"proved_at"`
}

// Status is the state of one backend that a node starts with after a restart. Times are wall clock times.
type Status struct {
	Service string     `json:"-"`
	Address netip.Addr `json:"-"`
	Port    uint16     `json:"-"`
	// Gone deletes the record; the other fields do not count then.
	Gone bool `json:"-"`

	Healthy       bool          `json:"healthy,omitempty"`
	Unknown       bool          `json:"unknown,omitempty"` // no verdict on it yet
	Latency       time.Duration `json:"latency,omitempty"` // of the node's last check; 0 when unknown
	At            time.Time     `json:"at"`
	LastHealthyAt time.Time     `json:"last_healthy_at,omitzero"`
	CreatedAt     time.Time     `json:"created_at,omitzero"` // when the node learned of it; zero: an earlier version's
	// AgentID is the agent that claims the backend; then Weight, Region and Check are what it said.
	AgentID      string     `json:"agent_id,omitempty"`
	AgentSourced bool       `json:"agent_sourced,omitempty"` // nothing but the agent declares the backend
	Weight       int        `json:"weight,omitempty"`
	Region       string     `json:"region,omitempty"`
	Check        check.Spec `json:"check,omitzero"`
	HeardAt      netip.Addr `json:"heard_at,omitzero"` // source address of the agent, if that is proved
	// AgentDrainSince and AgentDrainOver describe the agent's own drain: that of an agent which has said goodbye if
	// AgentLeftAt is not zero.
	AgentDrainSince time.Time     `json:"agent_drain_since,omitzero"`
	AgentDrainOver  time.Duration `json:"agent_drain_over,omitempty"`
	AgentLeftAt     time.Time     `json:"agent_left_at,omitzero"`
	// HeldSince and WarningHeldSince are the beginnings of the brakes that hold the agent's accusations; zero for none.
	HeldSince        time.Time `json:"held_since,omitzero"`
	WarningHeldSince time.Time `json:"warning_held_since,omitzero"`
	// Bleeds are the effects of the agent's early warnings on the share: of processor, memory and errors; zero for
	// none.
	Bleeds [3]Bleed `json:"bleeds,omitzero"`
}

// Bleed is the effect of an early warning: its level at Since, its duration Over, and whether the warning has ended.
type Bleed struct {
	Over  time.Duration `json:"over,omitempty"`
	Depth time.Duration `json:"depth,omitempty"`
	Since time.Time     `json:"since,omitzero"`
	Ended bool          `json:"ended,omitempty"`
}

// Order is an operator's order about a backend: an override, whose verdict outweighs every check, another weight, or a
// drain. Each kind is a record of its own.
type Order struct {
	Kind      api.OrderKind `json:"-"`
	Service   string        `json:"service"`
	Address   string        `json:"address"` // "ip" for all ports, or "ip:port"
	Healthy   bool          `json:"healthy"`
	Weight    int           `json:"weight,omitempty"`
	Share     float64       `json:"share,omitempty"` // what a drain leaves
	Over      time.Duration `json:"over,omitempty"`  // how long a drain takes
	Reason    string        `json:"reason"`
	Source    string        `json:"source"`
	CreatedAt time.Time     `json:"created_at"`
	CreatedBy string        `json:"created_by"`
	StartsAt  *time.Time    `json:"starts_at,omitempty"`  // nil: when it was made
	ExpiresAt *time.Time    `json:"expires_at,omitempty"` // nil: never
	Begun     bool          `json:"-"`                    // its beginning is in this node's audit log
}

// Node is an agent that an operator has announced.
type Node struct {
	ID           string    `json:"id"`
	Address      string    `json:"address"` // empty: not given
	Port         int       `json:"port"`    // 0: not given
	Region       string    `json:"region"`
	Version      string    `json:"version"`
	RegisteredAt time.Time `json:"registered_at"`
	Owner        string    `json:"owner,omitempty"`
}

// Mapping places the clients of one network in a region.
type Mapping struct {
	CIDR    string `json:"cidr"` // canonical: unmapped, with no bit set beyond its length
	Region  string `json:"region"`
	Comment string `json:"comment"`
	Owner   string `json:"owner,omitempty"`
}
