package registry

import (
	"context"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// ApplyWarnings replaces the early warnings of all backends of an agent. Backends that m omits have no warning. It
// skips backends that the agent has not reported yet, because the next heartbeat repeats the warning.
func (r *Registry) ApplyWarnings(ctx context.Context, from trust.Agent, m *wire.Signal) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		warnings := make(map[ID]wire.Warnings, len(m.Backends))
		for i := range m.Backends {
			said := &m.Backends[i]
			warnings[ID{Service: said.Service, Address: said.Address.Unmap(), Port: said.Port}] = said.Warnings
		}
		return w.changeReports(from, now, func(rec *record) { rec.report.statement.warnings = warnings[rec.id] }), nil
	})
}

// ApplyDrain starts a drain of all backends of an agent. The next heartbeats repeat the message.
func (r *Registry) ApplyDrain(ctx context.Context, from trust.Agent, m *wire.Drain) (Outcome, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.changeReports(from, now, func(rec *record) {
			rec.report.statement.draining, rec.report.statement.drainMillis = true, m.OverMillis
			w.updateAgentDrain(rec, now)
		}), nil
	})
}

// changeReports changes the reports of all backends of an agent. It ignores an agent that this process has not seen,
// because the next heartbeat repeats the message.
func (w *writer) changeReports(from trust.Agent, now time.Time, change func(*record)) Outcome {
	a := w.agents[from.ID()]
	if a == nil || !a.isPublished || len(from.Services()) == 0 {
		return Outcome{}
	}
	if !a.budget.HasToken(now) {
		return w.deferred(a, now)
	}
	a.budget.Spend(now, len(a.records))
	w.updateLastSeen(a, now)
	for _, rec := range slices.Clone(a.records) {
		if from.MaySpeakFor(rec.id.Service) { // other reports are being withdrawn
			change(rec)
			w.refreshBackend(rec, now)
		}
	}
	a.publishLastSeen(now)
	return Outcome{Changed: len(w.dirty) > 0}
}
