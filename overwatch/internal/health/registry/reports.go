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

// ApplyHeartbeat takes an agent's whole state: claims that it no longer makes are withdrawn. Messages of one agent must
// be handed over in the order of their sequence numbers. Of m, nothing is kept but its texts.
func (r *Registry) ApplyHeartbeat(ctx context.Context, from trust.Agent, m *wire.Heartbeat) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.applyHeartbeat(from, m, now),
			nil
	})
}

// ApplyTransition takes an agent's new claim of one backend; its other claims stay.
func (r *Registry) ApplyTransition(ctx context.Context, from trust.Agent, m *wire.Transition) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.applyTransition(from, &m.Backend,
			now), nil
	})
}

// ApplyGoodbye withdraws everything that an agent claims, at once: its goodbye. The agent stays listed. A server
// that the agent drained and that is also declared stays drained until this node's check of it succeeds.
func (r *Registry) ApplyGoodbye(ctx context.Context, from trust.Agent) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		if a := w.agents[from.ID()]; a != nil {
			w.storeLeftDrains(a, now)
			w.withdrawReports(a, now)
			a.publishGoodbye(now)
		}
		return nil
	})
}

// RemoveAgent forgets an agent that was revoked or unpinned; everything that it claims is withdrawn at once. An agent
// that is not known is no error.
func (r *Registry) RemoveAgent(ctx context.Context, agentID string) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		a := w.agents[agentID]
		if a == nil {
			return nil
		}
		w.withdrawReports(a, now)
		w.endAgentHold(a, now)
		delete(w.agents, agentID)
		w.agentIndex[agentID] = nil
		return nil
	})
}

// WithdrawDisallowed withdraws at once the claims of an agent that allowed refuses. An agent that is not known is no
// error.
func (r *Registry) WithdrawDisallowed(ctx context.Context, agentID string, allowed func(ID) bool) error {
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		a := w.agents[agentID]
		if a == nil {
			return nil
		}
		claims := a.records
		a.records = nil
		for _, rec := range claims {
			if allowed(rec.id) {
				a.records = append(a.records, rec)
			} else {
				w.withdrawReport(rec, now)
			}
		}
		return nil
	})
}

func (w *writer) applyHeartbeat(from trust.Agent, m *wire.Heartbeat, now time.Time) Outcome {
	region := m.Region
	if region == "" {
		region = from.Region()
	}
	region = w.options.RegionName(region)
	if a := w.agents[from.ID()]; a != nil && !w.isStale(a, now) && a.isUnchanged(from, m, region) {
		w.updateLastSeen(a, now)
		a.publishHeartbeat(m, now)
		return Outcome{}
	}
	if len(from.Services()) == 0 {
		return refuseAll(m.Backends)
	}
	a := w.getOrCreateAgent(from.ID())
	if !a.budget.spare(now) {
		return w.deferred(a, now)
	}
	w.updateLastSeen(a, now)
	w.updateAddress(a, from, now)
	w.reportRound++
	a.region, a.refused = region, nil
	former := a.records
	a.records = make([]*record, 0, len(m.Backends))
	for i := range m.Backends {
		w.applyReport(a, from, &m.Backends[i], now)
	}
	for _, rec := range former {
		if rec.report != nil && rec.report.agent == a && rec.report.round != w.reportRound {
			w.withdrawReport(rec, now)
		}
	}
	a.publishHeartbeat(m, now)
	w.logRefusals(a, now)
	return Outcome{Refused: a.refused, Changed: len(w.dirty) > 0}
}

// refuseAll returns the answer to an agent that was revoked or unpinned after its message had been opened.
func refuseAll(said []wire.Backend) Outcome {
	var o Outcome
	for i := range said {
		o.Refused = append(o.Refused, refusedClaim(&said[i], wire.CodeNotEnrolled))
	}
	return o
}

func refusedClaim(said *wire.Backend, code wire.RejectCode) wire.RefusedClaim {
	return wire.RefusedClaim{Service: said.Service, Address: said.Address, Port: said.Port, Code: code}
}

// isRefusalOf reports whether a refusal status.ReportKinds a reported backend.
func isRefusalOf(r wire.RefusedClaim, said *wire.Backend) bool {
	return r.Port == said.Port && r.Address == said.Address && r.Service == said.Service
}

func (w *writer) applyTransition(from trust.Agent, said *wire.Backend, now time.Time) Outcome {
	if len(from.Services()) == 0 {
		return Outcome{Refused: []wire.RefusedClaim{refusedClaim(said, wire.CodeNotEnrolled)}}
	}
	a := w.getOrCreateAgent(from.ID())
	if !a.budget.spare(now) {
		return w.deferred(a, now)
	}
	if a.region == "" {
		a.region = w.options.RegionName(from.Region())
	}
	returned := w.isStale(a, now)
	w.updateLastSeen(a, now)
	w.updateAddress(a, from, now)
	w.reportRound++
	others := slices.DeleteFunc(slices.Clone(a.refused), func(r wire.RefusedClaim) bool { return isRefusalOf(r, said) })
	a.refused = nil
	if !w.applyReport(a, from, said, now) {
		w.withdrawReportOf(a, said, now)
	}
	if returned {
		w.refreshReports(a, now)
	}
	o := Outcome{Refused: a.refused, Changed: len(w.dirty) > 0}
	a.refused = slices.Concat(a.refused, others[:min(len(others), wire.MaxBackends)])
	a.publishTransition(said, now)
	w.logRefusals(a, now)
	return o
}

// applyReport adds an agent's claim of one backend to its claims, or adds the refusal to a.refused. A claim that is
// refused now may have stood before; then the caller withdraws it.
func (w *writer) applyReport(a *agent, from trust.Agent, said *wire.Backend, now time.Time) (taken bool) {
	id, code, rule := w.admit(a, from, said, now)
	if code != 0 {
		a.budget.charge(1)
		refused := refusedClaim(said, code)
		refused.Rule = rule
		a.refused = append(a.refused, refused)
		return false
	}
	rec := w.getOrCreateRecord(id, now)
	if rec.isNew {
		a.budget.charge(newCost)
	}
	c := rec.report
	if c == nil || c.agent != a {
		if c != nil {
			c.agent.removeRecord(rec)
		}
		c = &report{agent: a}
		rec.report = c
	}
	if rec.leftDrain != nil && !rec.hasUnauthorizedReporter() {
		rec.leftDrain = nil
		w.markUnsaved(rec)
	}
	if !slices.Contains(a.records, rec) {
		a.records = append(a.records, rec)
	}
	c.round = w.reportRound
	words := statementOf(said, a.region)
	if w.isRecovering(rec, said, now) {
		words.state = wire.ClaimNone
	}
	if c.statement != words {
		a.budget.charge(1)
	}
	if c.setStatement(words) {
		w.deriveOwnCheck(rec)
		w.markUnsaved(rec)
	}
	w.updateAgentDrain(rec, now)
	w.refreshBackend(rec, now)
	return true
}

// isRecovering reports whether an agent calls a backend healthy after fewer successes in a row than success_threshold,
// which it does when it has just begun and knows nothing of before, although the backend was unhealthy as last known
// here, and this node has no verdict of its own that decides. It is then as if the agent had not concluded anything. An
// agent that does not say how many successes there were is believed.
func (w *writer) isRecovering(rec *record, said *wire.Backend, now time.Time) bool {
	if said.Claim != wire.ClaimHealthy || rec.lastKnown != check.StateUnhealthy ||
		w.hasCurrentCheck(rec, now) && !rec.published.OwnCheck.IsIgnored {
		return false
	}
	return said.ConsecutiveSuccesses > 0 && said.ConsecutiveSuccesses < uint32(cmp.Or(said.Check.SuccessThreshold,
		check.DefaultSuccessThreshold))
}

// withdrawReport ends the claim on rec. The caller takes rec out of the agent's list.
func (w *writer) withdrawReport(rec *record, now time.Time) {
	if a := rec.report.agent; a.hold != nil {
		a.queueHoldUpdate(w)
	}
	rec.report = nil
	w.removeOrRefresh(rec, now)
}

// withdrawReportOf ends the agent's claim on the backend that said names, if it has one.
func (w *writer) withdrawReportOf(a *agent, said *wire.Backend, now time.Time) {
	rec := w.lookupRecord(idOf(said))
	if rec != nil && rec.report != nil && rec.report.agent == a {
		a.removeRecord(rec)
		w.withdrawReport(rec, now)
	}
}

func (w *writer) withdrawReports(a *agent, now time.Time) {
	claims := a.records
	a.records = nil
	for _, rec := range claims {
		w.withdrawReport(rec, now)
	}
}
