package trust

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/identity"
)

// Status of a pinned certificate.
type Status string

// The statuses.
const (
	StatusValid       Status = "valid"
	StatusNotYetValid Status = "not_yet_valid"
	StatusExpired     Status = "expired"
	StatusRevoked     Status = "revoked"
)

// Record is what is known of a pinned agent, for people.
type Record struct {
	AgentID        string
	KeyID          identity.KeyID
	Serial         string // hexadecimal
	Region         string
	Version        string
	Services       []string // those that it speaks for now
	Outdated       bool     // speaks for one of them by a token of previous_agent_tokens
	FirstSeen      time.Time
	NotBefore      time.Time
	NotAfter       time.Time
	ExpiresInHours float64 // negative when expired
	Status         Status
	Revoked        bool
	RevokedAt      time.Time // zero unless revoked
	RevokedReason  string
}

// Agents returns the pinned agents, ordered by id.
func (t *Trust) Agents() []Record {
	now, _ := t.clock.now()
	t.mu.RLock()
	records := make([]Record, 0, len(t.byID))
	for _, p := range t.byID {
		records = append(records, p.record(now))
	}
	t.mu.RUnlock()
	slices.SortFunc(records, func(a, b Record) int { return strings.Compare(a.AgentID, b.AgentID) })
	return records
}

// Get returns one pinned agent.
func (t *Trust) Get(agentID string) (Record, bool) {
	now, _ := t.clock.now()
	t.mu.RLock()
	p := t.byID[agentID]
	t.mu.RUnlock()
	if p == nil {
		return Record{}, false
	}
	return p.record(now), true
}

// Allowed is Agent.Allowed for the agent with an id; it is false where none is pinned.
func (t *Trust) Allowed(agentID, service string, at netip.AddrPort) bool {
	t.mu.RLock()
	p := t.byID[agentID]
	t.mu.RUnlock()
	return p != nil && Agent{pinned: p}.Allowed(service, at)
}

func (p *pinned) record(now time.Time) Record {
	pin, c := p.stored(), p.certificate
	r := Record{
		AgentID: p.id, KeyID: c.KeyID, Serial: c.Serial, Region: pin.Region, Version: pin.Version,
		Services: Agent{pinned: p}.Services(), Outdated: p.standing.Load().outdated,
		FirstSeen: pin.FirstSeen, NotBefore: c.NotBefore, NotAfter: c.NotAfter, ExpiresInHours: c.NotAfter.Sub(now).Hours(),
		Status: StatusValid, Revoked: pin.Revoked, RevokedAt: pin.RevokedAt, RevokedReason: pin.RevokedReason,
	}
	switch {
	case pin.Revoked:
		r.Status = StatusRevoked
	case now.After(c.NotAfter):
		r.Status = StatusExpired
	case now.Before(c.NotBefore):
		r.Status = StatusNotYetValid
	}
	return r
}
