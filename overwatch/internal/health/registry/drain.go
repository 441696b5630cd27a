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

// drains returns the operator's drain of r, and the drain that its agent asks for or asked for before its goodbye. Each
// is nil if no such drain counts.
func (w *writer) drains(r *record, now time.Time) (both [2]*status.Ramp) {
	if o := w.orderFor(api.OrderDrain, r.id, now); o != nil {
		both[0] = o.drain
	}
	d := r.leftDrain
	if r.claim != nil && !r.outsider() {
		d = r.claim.drain
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

// followAgentDrain begins or ends the drain that the agent of rec asks for. A drain that has begun keeps its time. The
// zero duration means the default of the service.
func (w *writer) followAgentDrain(rec *record, now time.Time) {
	c := rec.claim
	if c.said.draining == (c.drain != nil) {
		return
	}
	c.drain = nil
	if c.said.draining {
		over := time.Duration(c.said.drainMillis) * time.Millisecond
		if over == 0 {
			over = w.options.DrainTime(rec.id.Service)
		}
		c.drain = &agentDrain{ramp: status.Drain(now, over, 0)}
	}
	w.keep(rec)
}

// keepDrains keeps the drains that a leaving agent asked for on its own declared servers.
func (w *writer) keepDrains(a *agent, now time.Time) {
	for _, rec := range a.claims {
		if rec.authority() != nil && !rec.outsider() && rec.claim.drain != nil {
			rec.leftDrain = &agentDrain{ramp: rec.claim.drain.ramp, leftAt: now}
			w.keep(rec)
		}
	}
}

// endDrains ends the drains of r that no longer count. The drain of a lost agent ends, since the agent may not return.
// The drain of an agent that said goodbye ends when an own check that began after the goodbye succeeds, or without own
// checks when the drain of a lost agent would.
func (w *writer) endDrains(r *record, now time.Time) {
	if c := r.claim; c != nil && c.drain != nil && w.gone(c.agent, now) {
		c.drain, c.said.draining = nil, false
		w.keep(r)
	}
	if r.leftDrain == nil {
		return
	}
	over := !now.Before(r.leftDrain.leftAt.Add(w.timing.RemoveAfter))
	if w.checks(r) {
		v := &r.pub.Validation
		over = v.Successes > 0 && v.At.Add(-v.Latency).After(r.leftDrain.leftAt)
	}
	if over {
		r.leftDrain = nil
		w.keep(r)
	}
}

// EndParting ends the drain that an agent left on a declared server at its goodbye: an operator knows that the machine
// serves. It reports whether there was such a drain.
func (r *Registry) EndParting(ctx context.Context, id ID) (ended bool, err error) {
	err = tell(ctx, r, func(w *writer, now time.Time) error {
		if rec := w.lookup(id); rec != nil && rec.leftDrain != nil {
			rec.leftDrain, ended = nil, true
			w.keep(rec)
			w.refresh(rec, now)
		}
		return nil
	})
	return ended && err == nil, err
}
