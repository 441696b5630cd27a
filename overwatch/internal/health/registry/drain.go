package registry

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// agentDrain is a drain that an agent requested. The drain of a declared server continues after the agent's leave
// message: the machine stops, and own checks detect the stop only after the failure threshold.
type agentDrain struct {
	ramp   status.Ramp
	leftAt time.Time // time of the leave message; zero for a connected agent
}

// stored returns the stored form of d, with wall clock times. d may be nil.
func (d *agentDrain) stored() (since time.Time, over time.Duration, leftAt time.Time) {
	if d == nil {
		return since, over, leftAt
	}
	return d.ramp.Since.Round(0), d.ramp.Over, d.leftAt.Round(0)
}

// restoredDrain returns a stored drain, which continues at its share. It is nil if since is zero.
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

// restoredSince converts a stored time to the clock of this process, at most now.
func restoredSince(since, now time.Time) time.Time { return now.Add(min(since.Sub(now), 0)) }

// activeDrains returns the operator's drain of r, and the drain by its current or former agent. A missing drain is nil.
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

// DrainTime returns the default duration of a drain of a service's backends. Any goroutine may call it.
func (r *Registry) DrainTime(service string) time.Duration {
	return min(max(r.writer.options.DrainTime(service), 0), status.MaxRampTime)
}

// updateAgentDrain begins or ends the drain that the agent of rec requests. The duration of a running drain stays. Zero
// means the default of the service.
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

// storeLeftDrains retains the drains of the declared servers of a leaving agent.
func (w *writer) storeLeftDrains(a *agent, now time.Time) {
	for _, rec := range a.records {
		if rec.effectiveDeclaration() != nil && !rec.hasUnauthorizedReporter() && rec.report.drain != nil {
			rec.leftDrain = &agentDrain{ramp: rec.report.drain.ramp, leftAt: now}
			w.markUnsaved(rec)
		}
	}
}

// endExpiredDrains ends drains of r by an agent. The drain of a lost agent ends, because the agent may not return. The
// drain of an agent that has left ends when an own check that began after the leave message succeeds. Without own
// checks, it ends after remove_after.
func (w *writer) endExpiredDrains(r *record, now time.Time) {
	if c := r.report; c != nil && c.drain != nil && w.isLost(c.agent, now) {
		c.drain, c.statement.draining = nil, false
		w.markUnsaved(r)
	}
	if r.leftDrain == nil {
		return
	}
	isOver := !now.Before(r.leftDrain.leftAt.Add(w.timing.RemoveAfter))
	if w.isChecked(r) {
		v := &r.published.OwnCheck
		isOver = v.Successes > 0 && v.At.Add(-v.Latency).After(r.leftDrain.leftAt)
	}
	if isOver {
		r.leftDrain = nil
		w.markUnsaved(r)
	}
}

// EndLeftDrain ends, for an operator, the drain of a declared server that its former agent requested. It reports
// whether there was such a drain.
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
