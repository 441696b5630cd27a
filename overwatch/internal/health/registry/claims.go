package registry

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Outcome is the effect of an agent's message.
type Outcome struct {
	// Refused lists the parts that were not taken, for the Ack. It is shared and must not be changed.
	Refused []wire.RefusedClaim
	// Changed tells that readers see something else now, beside the agent's own times and figures.
	Changed bool
	// Deferred tells that the message changed nothing, because its agent changes its backends too often. That the agent
	// was heard counts.
	Deferred bool
}

// Heartbeat takes an agent's whole state: claims that it no longer makes are withdrawn. Messages of one agent must be
// handed over in the order of their sequence numbers. Of m, nothing is kept but its texts.
func (r *Registry) Heartbeat(ctx context.Context, from trust.Agent, m *wire.Heartbeat) (Outcome, error) {
	return ask(ctx, r, func(w *writer, now time.Time) (Outcome, error) { return w.heartbeat(from, m, now), nil })
}

// Transition takes an agent's new claim of one backend; its other claims stay.
func (r *Registry) Transition(ctx context.Context, from trust.Agent, m *wire.Transition) (Outcome, error) {
	return ask(ctx, r, func(w *writer, now time.Time) (Outcome, error) { return w.transition(from, &m.Backend, now), nil })
}

// Deregister withdraws everything that an agent claims, at once: its goodbye. The agent stays listed. A server
// that the agent drained and that is also declared stays drained until this node's check of it succeeds.
func (r *Registry) Deregister(ctx context.Context, from trust.Agent) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if a := w.agents[from.ID()]; a != nil {
			w.keepDrains(a, now)
			w.withdrawAll(a, now)
			a.farewell(now)
		}
		return nil
	})
}

// DropAgent forgets an agent that was revoked or unpinned; everything that it claims is withdrawn at once. An agent
// that is not known is no error.
func (r *Registry) DropAgent(ctx context.Context, agentID string) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		a := w.agents[agentID]
		if a == nil {
			return nil
		}
		w.withdrawAll(a, now)
		w.endProtection(a, now)
		delete(w.agents, agentID)
		w.agentIndex[agentID] = nil
		return nil
	})
}

// Readmit withdraws at once the claims of an agent that allowed refuses. An agent that is not known is no error.
func (r *Registry) Readmit(ctx context.Context, agentID string, allowed func(ID) bool) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		a := w.agents[agentID]
		if a == nil {
			return nil
		}
		claims := a.claims
		a.claims = nil
		for _, rec := range claims {
			if allowed(rec.id) {
				a.claims = append(a.claims, rec)
			} else {
				w.withdraw(rec, now)
			}
		}
		return nil
	})
}

func (w *writer) heartbeat(from trust.Agent, m *wire.Heartbeat, now time.Time) Outcome {
	region := m.Region
	if region == "" {
		region = from.Region()
	}
	region = w.options.RegionName(region)
	if a := w.agents[from.ID()]; a != nil && !w.stale(a, now) && a.repeats(from, m, region) {
		w.heard(a, now)
		a.note(m, now)
		return Outcome{}
	}
	if len(from.Services()) == 0 {
		return refuseAll(m.Backends)
	}
	a := w.agent(from.ID())
	if !a.budget.spare(now) {
		return w.deferred(a, now)
	}
	w.heard(a, now)
	w.noteAddress(a, from, now)
	w.round++
	a.region, a.refused = region, nil
	former := a.claims
	a.claims = make([]*record, 0, len(m.Backends))
	for i := range m.Backends {
		w.take(a, from, &m.Backends[i], now)
	}
	for _, rec := range former {
		if rec.claim != nil && rec.claim.agent == a && rec.claim.round != w.round {
			w.withdraw(rec, now)
		}
	}
	a.note(m, now)
	w.logRefusals(a, now)
	return Outcome{Refused: a.refused, Changed: len(w.dirty) > 0}
}

// refuseAll returns the answer to an agent that was revoked or unpinned after its message had been opened.
func refuseAll(said []wire.Backend) Outcome {
	var o Outcome
	for i := range said {
		o.Refused = append(o.Refused, refusal(&said[i], wire.CodeNotEnrolled))
	}
	return o
}

func refusal(said *wire.Backend, code wire.RejectCode) wire.RefusedClaim {
	return wire.RefusedClaim{Service: said.Service, Address: said.Address, Port: said.Port, Code: code}
}

// isAbout reports whether a refusal concerns a reported backend.
func isAbout(r wire.RefusedClaim, said *wire.Backend) bool {
	return r.Port == said.Port && r.Address == said.Address && r.Service == said.Service
}

func (w *writer) transition(from trust.Agent, said *wire.Backend, now time.Time) Outcome {
	if len(from.Services()) == 0 {
		return Outcome{Refused: []wire.RefusedClaim{refusal(said, wire.CodeNotEnrolled)}}
	}
	a := w.agent(from.ID())
	if !a.budget.spare(now) {
		return w.deferred(a, now)
	}
	if a.region == "" {
		a.region = w.options.RegionName(from.Region())
	}
	returned := w.stale(a, now)
	w.heard(a, now)
	w.noteAddress(a, from, now)
	w.round++
	others := slices.DeleteFunc(slices.Clone(a.refused), func(r wire.RefusedClaim) bool { return isAbout(r, said) })
	a.refused = nil
	if !w.take(a, from, said, now) {
		w.withdrawNamed(a, said, now)
	}
	if returned {
		w.refreshClaims(a, now)
	}
	o := Outcome{Refused: a.refused, Changed: len(w.dirty) > 0}
	a.refused = slices.Concat(a.refused, others[:min(len(others), wire.MaxBackends)])
	a.noteTransition(said, now)
	w.logRefusals(a, now)
	return o
}

// take adds an agent's claim of one backend to its claims, or adds the refusal to a.refused. A claim that is refused
// now may have stood before; then the caller withdraws it.
func (w *writer) take(a *agent, from trust.Agent, said *wire.Backend, now time.Time) (taken bool) {
	id, code, rule := w.admit(a, from, said, now)
	if code != 0 {
		a.budget.charge(1)
		refused := refusal(said, code)
		refused.Rule = rule
		a.refused = append(a.refused, refused)
		return false
	}
	rec := w.obtain(id, now)
	if rec.draft {
		a.budget.charge(newCost)
	}
	c := rec.claim
	if c == nil || c.agent != a {
		if c != nil {
			c.agent.forget(rec)
		}
		c = &claim{agent: a}
		rec.claim = c
	}
	if rec.leftDrain != nil && !rec.outsider() {
		rec.leftDrain = nil
		w.keep(rec)
	}
	if !slices.Contains(a.claims, rec) {
		a.claims = append(a.claims, rec)
	}
	c.round = w.round
	words := statementOf(said, a.region)
	if w.recovering(rec, said, now) {
		words.claim = wire.ClaimNone
	}
	if c.said != words {
		a.budget.charge(1)
	}
	if c.say(words) {
		w.reduce(rec)
		w.keep(rec)
	}
	w.followAgentDrain(rec, now)
	w.refresh(rec, now)
	return true
}

// recovering reports whether an agent calls a backend healthy after fewer successes in a row than success_threshold,
// which it does when it has just begun and knows nothing of before, although the backend was unhealthy as last known
// here, and this node has no verdict of its own that decides. It is then as if the agent had not concluded anything. An
// agent that does not say how many successes there were is believed.
func (w *writer) recovering(rec *record, said *wire.Backend, now time.Time) bool {
	if said.Claim != wire.ClaimHealthy || rec.remembered != check.StateUnhealthy ||
		w.validated(rec, now) && !rec.pub.Validation.SetAside {
		return false
	}
	return said.ConsecutiveSuccesses > 0 && said.ConsecutiveSuccesses < uint32(cmp.Or(said.Check.SuccessThreshold,
		check.DefaultSuccessThreshold))
}

// withdraw ends the claim on rec. The caller takes rec out of the agent's list.
func (w *writer) withdraw(rec *record, now time.Time) {
	if a := rec.claim.agent; a.brake != nil {
		a.rejudge(w)
	}
	rec.claim = nil
	w.release(rec, now)
}

// withdrawNamed ends the agent's claim on the backend that said names, if it has one.
func (w *writer) withdrawNamed(a *agent, said *wire.Backend, now time.Time) {
	rec := w.lookup(idOf(said))
	if rec != nil && rec.claim != nil && rec.claim.agent == a {
		a.forget(rec)
		w.withdraw(rec, now)
	}
}

func (w *writer) withdrawAll(a *agent, now time.Time) {
	claims := a.claims
	a.claims = nil
	for _, rec := range claims {
		w.withdraw(rec, now)
	}
}
