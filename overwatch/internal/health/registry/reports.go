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
	// Refused lists the rejected backends of the message, for the Ack. Callers must not change it.
	Refused []wire.RefusedClaim
	// Changed is true if the view has changed, except for the agent's times and figures.
	Changed bool
	// Deferred is true if the reports were ignored because the agent exceeds its budget of changes. Its last-seen time is
	// updated.
	Deferred bool
}

// ApplyHeartbeat replaces all reports of an agent, and withdraws backends that the heartbeat omits. The caller passes
// the messages of an agent in the order of their sequence numbers. The registry retains only the strings of m.
func (r *Registry) ApplyHeartbeat(ctx context.Context, from trust.Agent, m *wire.Heartbeat) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.applyHeartbeat(from, m, now),
			nil
	})
}

// ApplyTransition replaces an agent's report of a backend.
func (r *Registry) ApplyTransition(ctx context.Context, from trust.Agent, m *wire.Transition) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.applyTransition(from, &m.Backend,
			now), nil
	})
}

// ApplyGoodbye withdraws all reports of an agent immediately, after its leave message. The agent stays in the view. A
// declared server that the agent drained stays drained until an own check succeeds.
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

// RemoveAgent removes a revoked or unpinned agent and withdraws its reports. It ignores an unknown agent.
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

// WithdrawDisallowed withdraws the reports of an agent for which allowed returns false. It ignores an unknown agent.
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
	if !a.budget.HasToken(now) {
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

// refuseAll returns the outcome for an agent that is no longer enrolled: an operator revoked or unpinned it after the
// verification of the message.
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

// isRefusalOf reports whether a rejection is about a reported backend.
func isRefusalOf(r wire.RefusedClaim, said *wire.Backend) bool {
	return r.Port == said.Port && r.Address == said.Address && r.Service == said.Service
}

func (w *writer) applyTransition(from trust.Agent, said *wire.Backend, now time.Time) Outcome {
	if len(from.Services()) == 0 {
		return Outcome{Refused: []wire.RefusedClaim{refusedClaim(said, wire.CodeNotEnrolled)}}
	}
	a := w.getOrCreateAgent(from.ID())
	if !a.budget.HasToken(now) {
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

// applyReport applies an agent's report of a backend, or adds the rejection to a.refused. After a rejection, the
// caller withdraws an earlier report of the backend.
func (w *writer) applyReport(a *agent, from trust.Agent, said *wire.Backend, now time.Time) (isApplied bool) {
	id, code, rule := w.admit(a, from, said, now)
	if code != 0 {
		a.budget.Spend(now, 1)
		refused := refusedClaim(said, code)
		refused.Rule = rule
		a.refused = append(a.refused, refused)
		return false
	}
	rec := w.getOrCreateRecord(id, now)
	if rec.isNew {
		a.budget.Spend(now, newCost)
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
		a.budget.Spend(now, 1)
	}
	if c.setStatement(words) {
		w.deriveOwnCheck(rec)
		w.markUnsaved(rec)
	}
	w.updateAgentDrain(rec, now)
	w.refreshBackend(rec, now)
	return true
}

// isRecovering reports whether an agent reports a backend healthy after fewer successes than success_threshold,
// although the backend was last known unhealthy and no own check decides. A newly started agent sends such reports. The
// report is then treated as a report without a state. A report without a number of successes is accepted.
func (w *writer) isRecovering(rec *record, said *wire.Backend, now time.Time) bool {
	if said.Claim != wire.ClaimHealthy || rec.lastKnown != check.StateUnhealthy ||
		w.hasCurrentCheck(rec, now) && !rec.published.OwnCheck.IsIgnored {
		return false
	}
	return said.ConsecutiveSuccesses > 0 && said.ConsecutiveSuccesses < uint32(cmp.Or(said.Check.SuccessThreshold,
		check.DefaultSuccessThreshold))
}

// withdrawReport removes the report of rec. The caller removes rec from the agent's records.
func (w *writer) withdrawReport(rec *record, now time.Time) {
	if a := rec.report.agent; a.hold != nil {
		a.queueHoldUpdate(w)
	}
	rec.report = nil
	w.removeOrRefresh(rec, now)
}

// withdrawReportOf removes the agent's report of a backend, if it exists.
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
