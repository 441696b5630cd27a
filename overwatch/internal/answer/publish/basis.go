package publish

import (
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/check"
)

// basis is everything that the answers of a domain follow from now.
func (p *decider) basis(d *domain) *policy.Basis {
	b := &policy.Basis{
		Name: d.name, Rules: d.rules, Clients: d.clients, Placed: d.placed, Answers: d.answers,
		Candidates: p.candidates(p.backends.Service(d.service), p.measurements.smoothed[d.service]),
		Number:     p.bases.Add(1), Generation: p.generation, At: p.now(),
	}
	if d.rules.NeedsPosition() && p.positions.atlas != nil {
		b.Spots = p.positions.atlas.Spots()
	}
	return b
}

// candidates is what a decision depends on, of each backend, and what explains it.
func (p *decider) candidates(
	backends []*registry.Backend,
	latencies map[registry.ID]policy.Measurement,
) []policy.Candidate {
	out := make([]policy.Candidate, len(backends))
	for i, b := range backends {
		out[i] = policy.Candidate{
			Address:     b.Address,
			Region:      b.Region,
			Weight:      b.WeightInForce(),
			Share:       b.Share,
			MayServe:    b.MayServe,
			Forbidden:   b.Override != nil && !b.Override.Healthy,
			Unknown:     b.Reason == registry.ReasonUnknown,
			LastHealthy: lastServed(b),
			Latency:     latencies[b.ID],
			Port:        b.Port,
			Facts:       p.facts(b),
		}
	}
	return out
}

// lastServed is when a backend that may not serve last might, as far as health and drains decide that. The healthy one
// that has been drained counts from the end of its drain: while it goes on being healthy that does not change, and no
// more do answers.
func lastServed(b *registry.Backend) time.Time {
	if b.Drained() {
		return b.DrainEndsAt
	}
	return b.LastHealthyAt
}

// facts is what explains a backend's state. Most backends are in one of a few states, and share what says so.
func (p *decider) facts(b *registry.Backend) *policy.Facts {
	f := policy.Facts{Status: string(b.Status), Reason: b.Reason, Check: b.CheckNote()}
	f.Order, f.Weight, f.Drain = orderOf(b.Override), orderOf(b.WeightOrder), orderOf(b.DrainOrder)
	if f.Weight != nil {
		f.Declared = b.Weight
	}
	if b.Draining {
		f.DrainEndsAt, f.DrainTo = b.DrainEndsAt, b.DrainTo
	}
	if !b.MayServe {
		f.Problem = problem(b)
	}
	if f.Order != nil || f.Weight != nil || b.Draining || f.Problem != "" {
		own := f
		return &own
	}
	if p.state != nil && *p.state == f { // as of the backend before, mostly
		return p.state
	}
	if p.states[f] == nil {
		shared := f
		p.states[f] = &shared
	}
	p.state = p.states[f]
	return p.state
}

// orderOf returns an order as explanations show it, nil for none.
func orderOf(o *registry.Order) *policy.Order {
	if o == nil {
		return nil
	}
	return &policy.Order{Healthy: o.Healthy, By: o.CreatedBy, Reason: o.Reason, Until: o.ExpiresAt}
}

// problem is what was found wrong with a backend, empty where nothing was said of it.
func problem(b *registry.Backend) string {
	if b.Validation.State == check.StateUnhealthy && b.Validation.Err != "" {
		return b.Validation.Err
	}
	if b.Claim != nil && !*b.Claim {
		return b.Report().LastError
	}
	return ""
}
