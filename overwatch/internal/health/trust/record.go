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

// Record describes a pinned agent to operators.
type Record struct {
	AgentID        string
	KeyID          identity.KeyID
	Serial         string // hexadecimal
	Region         string
	Version        string
	Services       []string // services that it may report
	Outdated       bool     // it proved a service with a token of previous_agent_tokens
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

// Page returns at most limit pinned agents after the first offset agents, ordered by id, and the total number.
func (t *Trust) Page(offset, limit int) (records []Record, total int) {
	t.mu.RLock()
	total = len(t.ordered)
	from := min(offset, total)
	page := slices.Clone(t.ordered[from : from+min(limit, total-from)])
	t.mu.RUnlock()
	now, _ := t.clock.readTime()
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
	Expiring int // number of valid certificates that have expired or expire soon
	Outdated int // number of valid pins with a proof of a token of previous_agent_tokens
}

// Count counts the pinned agents. A certificate that expires within soon is counted as expiring.
func (t *Trust) Count(soon time.Duration) (c Counts) {
	t.mu.RLock()
	all := slices.Clone(t.ordered)
	t.mu.RUnlock()
	now, _ := t.clock.readTime()
	for _, p := range all {
		standing := p.rights.Load()
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

// indexOf returns the index of an agent in ordered, or the index at which it must be inserted. The caller holds mu.
func (t *Trust) indexOf(agentID string) (at int, found bool) {
	return slices.BinarySearchFunc(t.ordered, agentID, func(p *pinned, id string) int { return strings.Compare(p.id, id) })
}

// Pinned reports whether an agent has a pin and is not revoked. It also returns the time of the pin.
func (t *Trust) Pinned(agentID string) (since time.Time, pinned bool) {
	record, pinned := t.Get(agentID)
	return record.FirstSeen, pinned && !record.Revoked
}

// Get returns a pinned agent.
func (t *Trust) Get(agentID string) (Record, bool) {
	now, _ := t.clock.readTime()
	p := t.findAgent(agentID)
	if p == nil {
		return Record{}, false
	}
	return p.record(now), true
}

// Allowed is Agent.Allowed for the agent with an id. It is false for an unknown agent.
func (t *Trust) Allowed(agentID, service string, at netip.AddrPort) bool {
	p := t.findAgent(agentID)
	return p != nil && Agent{pinned: p}.Allowed(service, at)
}

func (p *pinned) record(now time.Time) Record {
	pin, c := p.storedPin(), p.certificate
	r := Record{
		AgentID: p.id, KeyID: c.KeyID, Serial: c.Serial, Region: pin.Region, Version: pin.Version,
		Services: Agent{pinned: p}.Services(), Outdated: p.rights.Load().outdated,
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
