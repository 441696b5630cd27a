package registry

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// agentDrain is a drain that an agent asked for. It continues on a declared server after the agent's goodbye: the
// machine stops, and own checks may notice this only after three intervals.
type agentDrain struct {
	ramp   status.Ramp
	leftAt time.Time // the goodbye; zero before it
}

// stored returns d as it is stored, with times of the wall clock. d may be nil.
func (d *agentDrain) stored() (since time.Time, over time.Duration, leftAt time.Time) {
	if d == nil {
		return since, over, leftAt
	}
	return d.ramp.Since.Round(0), d.ramp.Over, d.leftAt.Round(0)
}

// restoredDrain returns a stored drain, which continues at its share. It begins now at the latest. The drain is nil if
// since is zero.
func restoredDrain(since time.Time, over time.Duration, leftAt, now time.Time) *agentDrain {
	if since.IsZero() {
		return nil
	}
	d := &agentDrain{ramp: status.Drain(restoredSince(since, now), over, 0)}
	if !leftAt.IsZero() {
		d.leftAt = restoredSince(leftAt, now)
	}
	return d
}

// restoredSince returns a moment before the restart by the clock of this process, not later than now.
func restoredSince(since, now time.Time) time.Time { return now.Add(min(since.Sub(now), 0)) }

// activeDrains returns the operator's drain of r, and the drain that its agent asks for or asked for before its
// goodbye. Each is nil if no such drain counts.
func (w *writer) activeDrains(r *record, now time.Time) (both [2]*status.Ramp) {
	if o := w.adminStateFor(api.OrderDrain, r.id, now); o != nil {
		both[0] = o.drain
	}
	d := r.leftDrain
	if r.report != nil && !r.hasUnauthorizedReporter() {
		d = r.report.drain
	}
	if d != nil {
		both[1] = &d.ramp
	}
	return both
}

// DrainTime returns how long a drain of a service's backend takes by default. Any goroutine may call it.
func (r *Registry) DrainTime(service string) time.Duration {
	return min(max(r.writer.options.DrainTime(service), 0), status.MaxRampTime)
}

// updateAgentDrain begins or ends the drain that the agent of rec asks for. A drain that has begun keeps its time. The
// zero duration means the default of the service.
func (w *writer) updateAgentDrain(rec *record, now time.Time) {
	c := rec.report
	if c.statement.draining == (c.drain != nil) {
		return
	}
	c.drain = nil
	if c.statement.draining {
		over := time.Duration(c.statement.drainMillis) * time.Millisecond
		if over == 0 {
			over = w.options.DrainTime(rec.id.Service)
		}
		c.drain = &agentDrain{ramp: status.Drain(now, over, 0)}
	}
	w.markUnsaved(rec)
}

// storeLeftDrains keeps the drains that a leaving agent asked for on its own declared servers.
func (w *writer) storeLeftDrains(a *agent, now time.Time) {
	for _, rec := range a.records {
		if rec.effectiveDeclaration() != nil && !rec.hasUnauthorizedReporter() && rec.report.drain != nil {
			rec.leftDrain = &agentDrain{ramp: rec.report.drain.ramp, leftAt: now}
			w.markUnsaved(rec)
		}
	}
}

// endExpiredDrains ends the drains of r that no longer count. The drain of a lost agent ends, since the agent may not
// return. The drain of an agent that said goodbye ends when an own check that began after the goodbye succeeds, or
// without own checks when the drain of a lost agent would.
func (w *writer) endExpiredDrains(r *record, now time.Time) {
	if c := r.report; c != nil && c.drain != nil && w.isLost(c.agent, now) {
		c.drain, c.statement.draining = nil, false
		w.markUnsaved(r)
	}
	if r.leftDrain == nil {
		return
	}
	over := !now.Before(r.leftDrain.leftAt.Add(w.timing.RemoveAfter))
	if w.isChecked(r) {
		v := &r.published.OwnCheck
		over = v.Successes > 0 && v.At.Add(-v.Latency).After(r.leftDrain.leftAt)
	}
	if over {
		r.leftDrain = nil
		w.markUnsaved(r)
	}
}

// EndLeftDrain ends the drain that an agent left on a declared server at its goodbye: an operator knows that the
// machine serves. It reports whether there was such a drain.
func (r *Registry) EndLeftDrain(ctx context.Context, id ID) (ended bool, err error) {
	err = runChange(ctx, r, func(w *writer, now time.Time) error {
		if rec := w.lookupRecord(id); rec != nil && rec.leftDrain != nil {
			rec.leftDrain, ended = nil, true
			w.markUnsaved(rec)
			w.refreshBackend(rec, now)
		}
		return nil
	})
	return ended && err == nil, err
}
