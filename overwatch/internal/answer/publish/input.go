package publish

import (
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/check"
)

// decisionInput returns the current decision input of a domain, without clients.
func (p *decider) decisionInput(d *domain) *policy.DecisionInput {
	b := &policy.DecisionInput{
		Name: d.name, Rules: d.rules, UsesRegion: d.placed, Answers: d.answers,
		Candidates:       p.candidates(d.servers(p.backends.Service(d.service)), p.measurements.smoothed[d.service]),
		AwaitingFailback: p.awaitingFailback(d),
		Number:           p.bases.Add(1), Generation: p.generation, PublishedAt: p.now(),
	}
	if d.rules.NeedsPosition() && p.positions.atlas != nil {
		b.Locations = p.positions.atlas.Locations()
	}
	return b
}

// clientsOf returns the clients of a domain. If the domain decides by region, the clients are grouped by the regions in
// its settings and the regions of its candidates.
func (p *decider) clientsOf(d *domain, candidates []policy.Candidate) *clients {
	if !d.placed {
		return p.positions.clientsAmong(nil)
	}
	own := append(p.own[:0], d.listed...)
	for i := range candidates {
		if region := candidates[i].Region; region != "" && !slices.Contains(own, region) {
			own = append(own, region)
		}
	}
	slices.Sort(own)
	p.own = own
	return p.positions.clientsAmong(own)
}

// candidates returns the candidates for backends, each with its explanation data.
func (p *decider) candidates(
	backends []*registry.Backend,
	latencies map[registry.ID]policy.LatencyMeasurement,
) []policy.Candidate {
	out := make([]policy.Candidate, len(backends))
	for i, b := range backends {
		out[i] = policy.Candidate{
			Address:      b.Address,
			Region:       p.positions.places.region(b.Region),
			Weight:       b.EffectiveWeight(),
			Share:        b.Share,
			MayServe:     b.MayServe,
			Forbidden:    b.Override != nil && !b.Override.Healthy,
			Withdrawn:    b.Override != nil && !b.Override.Healthy || b.AdminDrain != nil || b.Draining,
			Unknown:      b.Reason == status.ReasonUnknown,
			LastHealthy:  lastServed(b),
			Latency:      latencies[b.ID],
			Port:         b.Port,
			Info:         p.facts(b),
			AddressCount: b.Host().Addresses,
			Target:       b.Host().Name,
		}
	}
	return out
}

// lastServed returns the time until which a backend could serve. For a healthy drained backend, this is the end of the
// drain; the time of its last health check would change the answers permanently.
func lastServed(b *registry.Backend) time.Time {
	if b.IsDrained() {
		return b.DrainEndsAt
	}
	return b.LastHealthyAt
}

// facts returns the explanation data of a backend. Backends in the same state share it.
func (p *decider) facts(b *registry.Backend) *policy.CandidateInfo {
	f := policy.CandidateInfo{Status: string(b.Status), Reason: b.Reason, Check: b.CheckNote(),
		Votes: b.Dispute.String()}
	f.Override, f.Weight, f.Drain = orderOf(b.Override), orderOf(b.AdminWeight), orderOf(b.AdminDrain)
	if f.Weight != nil {
		f.Declared = b.Weight
	}
	if b.Draining {
		f.DrainEndsAt, f.DrainTo = b.DrainEndsAt, b.DrainTo
	}
	if !b.MayServe {
		f.Problem = problem(b)
	}
	if f.Override != nil || f.Weight != nil || b.Draining || f.Problem != "" || f.Votes != "" {
		own := f
		return &own
	}
	if p.state != nil && *p.state == f { // usually equal to the state of the previous backend
		return p.state
	}
	if p.states[f] == nil {
		shared := f
		p.states[f] = &shared
	}
	p.state = p.states[f]
	return p.state
}

// orderOf returns an admin state for explanations; nil if missing.
func orderOf(o *registry.AdminState) *policy.AdminState {
	if o == nil {
		return nil
	}
	return &policy.AdminState{Healthy: o.Healthy, By: o.CreatedBy, Reason: o.Reason, Until: o.ExpiresAt}
}

// problem returns the error of the decisive check, by the agent or by this node; "" without an error.
func problem(b *registry.Backend) string {
	if b.Reason == status.ReasonAgentUnhealthy {
		return b.Report().LastError
	}
	if b.OwnCheck.State == check.StateUnhealthy && b.OwnCheck.LastError != "" {
		return b.OwnCheck.LastError
	}
	if b.Reported != nil && !*b.Reported {
		return b.Report().LastError
	}
	return ""
}
