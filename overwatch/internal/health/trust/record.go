package trust

import (
	"math"
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

// Record describes a pinned agent, for people.
type Record struct {
	AgentID        string
	KeyID          identity.KeyID
	Serial         string // hexadecimal
	Region         string
	Version        string
	Services       []string // those that it speaks for now
	Outdated       bool     // speaks for one of them by a token of previous_agent_tokens
	FirstSeen      time.Time
	IssuedAt       time.Time // of the certificate
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
	records, _ := t.Page(0, math.MaxInt)
	return records
}

// Page returns at most limit pinned agents after the first offset ones, ordered by id, and how many are pinned.
func (t *Trust) Page(offset, limit int) (records []Record, total int) {
	t.mu.RLock()
	total = len(t.ordered)
	from := min(offset, total)
	page := slices.Clone(t.ordered[from : from+min(limit, total-from)])
	t.mu.RUnlock()
	now, _ := t.clock.now()
	records = make([]Record, 0, len(page))
	for _, p := range page {
		records = append(records, p.record(now))
	}
	return records, total
}

// Counts are numbers of pinned agents.
type Counts struct {
	Revoked  int
	Valid    int // not revoked
	Expiring int // of Valid: those whose certificate ends soon or has ended
	Outdated int // of Valid: those that speak for a service by a token of previous_agent_tokens
}

// Count counts the pinned agents; a certificate ends soon when it does within the time given.
func (t *Trust) Count(soon time.Duration) (c Counts) {
	t.mu.RLock()
	all := slices.Clone(t.ordered)
	t.mu.RUnlock()
	now, _ := t.clock.now()
	for _, p := range all {
		standing := p.standing.Load()
		if standing.revoked {
			c.Revoked++
			continue
		}
		c.Valid++
		if p.certificate.NotAfter.Sub(now) <= soon {
			c.Expiring++
		}
		if standing.outdated {
			c.Outdated++
		}
	}
	return c
}

// place returns the index of an agent in the ordered list, or the index at which it would be inserted. The caller holds
// mu.
func (t *Trust) place(agentID string) (at int, found bool) {
	return slices.BinarySearchFunc(t.ordered, agentID, func(p *pinned, id string) int { return strings.Compare(p.id, id) })
}

// Pinned reports whether an agent has a pinned certificate that is not revoked, and since when it is pinned.
func (t *Trust) Pinned(agentID string) (since time.Time, pinned bool) {
	record, pinned := t.Get(agentID)
	return record.FirstSeen, pinned && !record.Revoked
}

// Get returns one pinned agent.
func (t *Trust) Get(agentID string) (Record, bool) {
	now, _ := t.clock.now()
	p := t.holder(agentID)
	if p == nil {
		return Record{}, false
	}
	return p.record(now), true
}

// Allowed is Agent.Allowed for the agent with an id; it is false where none is pinned.
func (t *Trust) Allowed(agentID, service string, at netip.AddrPort) bool {
	p := t.holder(agentID)
	return p != nil && Agent{pinned: p}.Allowed(service, at)
}

func (p *pinned) record(now time.Time) Record {
	pin, c := p.stored(), p.certificate
	r := Record{
		AgentID: p.id, KeyID: c.KeyID, Serial: c.Serial, Region: pin.Region, Version: pin.Version,
		Services: Agent{pinned: p}.Services(), Outdated: p.standing.Load().outdated,
		FirstSeen: pin.FirstSeen, IssuedAt: c.IssuedAt(), NotBefore: c.NotBefore, NotAfter: c.NotAfter,
		ExpiresInHours: c.NotAfter.Sub(now).Hours(),
		Status:         StatusValid, Revoked: pin.Revoked, RevokedAt: pin.RevokedAt, RevokedReason: pin.RevokedReason,
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
