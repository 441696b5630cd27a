package registry

import (
	"context"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/wire"
)

// Signal sets the early warnings of an agent's backends; backends that it does not name have none. Backends that the
// agent does not claim are skipped: the next heartbeat repeats the warning together with the claim.
func (r *Registry) Signal(ctx context.Context, from trust.Agent, m *wire.Signal) (Outcome, error) {
	return ask(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		warnings := make(map[ID]wire.Warnings, len(m.Backends))
		for i := range m.Backends {
			said := &m.Backends[i]
			warnings[ID{Service: said.Service, Address: said.Address.Unmap(), Port: said.Port}] = said.Warnings
		}
		return w.amend(from, now, func(rec *record) { rec.claim.said.warnings = warnings[rec.id] }), nil
	})
}

// Drain begins to drain all backends that an agent claims. Its next heartbeats repeat it.
func (r *Registry) Drain(ctx context.Context, from trust.Agent, m *wire.Drain) (Outcome, error) {
	return ask(ctx, r, func(w *writer, now time.Time) (Outcome, error) {
		return w.amend(from, now, func(rec *record) {
			rec.claim.said.draining, rec.claim.said.drainMillis = true, m.OverMillis
			w.followAgentDrain(rec, now)
		}), nil
	})
}

// amend changes the last statement of an agent about each of its backends. It does nothing for an agent that has not
// been heard since the restart: its next heartbeat says the same.
func (w *writer) amend(from trust.Agent, now time.Time, change func(*record)) Outcome {
	a := w.agents[from.ID()]
	if a == nil || !a.listed || len(from.Services()) == 0 {
		return Outcome{}
	}
	if !a.budget.spare(now) {
		return w.deferred(a, now)
	}
	a.budget.charge(len(a.claims))
	w.heard(a, now)
	for _, rec := range slices.Clone(a.claims) {
		if from.Speaks(rec.id.Service) { // what it speaks for no more is being withdrawn
			change(rec)
			w.refresh(rec, now)
		}
	}
	a.noteSeen(now)
	return Outcome{Changed: len(w.dirty) > 0}
}
