package store

import (
	"net/netip"
	"time"
)

// Pin is what a node remembers of an agent: the certificate that its id belongs to, and what it may speak for.
type Pin struct {
	AgentID        string          `json:"agent_id"`
	CertificateDER []byte          `json:"certificate"`
	Region         string          `json:"region"`
	Version        string          `json:"version"`
	Services       []PinnedService `json:"services"`
	FirstSeen      time.Time       `json:"first_seen"`
	Revoked        bool            `json:"revoked,omitempty"`
	RevokedAt      time.Time       `json:"revoked_at,omitzero"`
	RevokedReason  string          `json:"revoked_reason,omitempty"`
}

// PinnedService is a service that an agent proved to know the token of.
type PinnedService struct {
	Name      string    `json:"name"`
	TokenMark [16]byte  `json:"token_mark"` // of the token that was proved: identity.TokenMark
	ProvedAt  time.Time `json:"proved_at"`
}

// Status is the last known state of a backend, from which a node starts after a restart.
type Status struct {
	Service string
	Address netip.Addr
	Port    uint16
	Healthy bool
	Latency time.Duration // of the last check, in whole microseconds; 0 when unknown
	At      time.Time     // in whole milliseconds
}

// Override is an operator's word on a backend, which outweighs every check.
type Override struct {
	Service   string     `json:"service"`
	Address   string     `json:"address"` // "ip" for all ports, or "ip:port"
	Healthy   bool       `json:"healthy"`
	Reason    string     `json:"reason"`
	Source    string     `json:"source"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // nil: never
}
