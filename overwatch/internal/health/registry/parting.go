package registry

import (
	"context"
	"time"
)

// parting is the drain that an agent asked for and had not ended when it said goodbye. A declared server stays drained
// by it: its machine is being stopped, which this node's own checks may take three intervals to notice.
type parting struct {
	drain *drain
	at    time.Time // of the goodbye
}

// keepDrains keeps the drains that a leaving agent asked for on its own servers.
func (w *writer) keepDrains(a *agent, now time.Time) {
	for _, rec := range a.claims {
		if rec.authority() != nil && !rec.outsider() && rec.claim.drain != nil {
			rec.parting = &parting{drain: rec.claim.drain, at: now}
			w.keep(rec)
		}
	}
}

// endParting ends the parting of r once a check of this node's own that began after the goodbye has succeeded. Where
// there are no such checks, it ends when the drain of a lost agent would.
func (w *writer) endParting(r *record, now time.Time) {
	if r.parting == nil {
		return
	}
	over := !now.Before(r.parting.at.Add(w.timing.RemoveAfter))
	if w.checks(r) {
		v := &r.pub.Validation
		over = v.Successes > 0 && v.At.Add(-v.Latency).After(r.parting.at)
	}
	if over {
		r.parting = nil
		w.keep(r)
	}
}

// EndParting ends the drain that an agent has left on a declared server at its goodbye: an operator knows that the
// machine serves. It reports whether there was one.
func (r *Registry) EndParting(ctx context.Context, id ID) (ended bool, err error) {
	err = tell(ctx, r, func(w *writer, now time.Time) error {
		if rec := w.lookup(id); rec != nil && rec.parting != nil {
			rec.parting, ended = nil, true
			w.keep(rec)
			w.refresh(rec, now)
		}
		return nil
	})
	return ended && err == nil, err
}

// stored returns the drain and the time of a parting as they are saved; zero for none.
func (p *parting) stored() (since time.Time, over time.Duration, at time.Time) {
	if p == nil {
		return since, over, at
	}
	since, over = p.drain.stored()
	return since, over, p.at.Round(0)
}

// restoredParting returns a saved parting; nil if at is zero.
func restoredParting(since time.Time, over time.Duration, at, now time.Time) *parting {
	d := restoredDrain(since, over, now)
	if at.IsZero() || d == nil {
		return nil
	}
	return &parting{drain: d, at: restoredSince(at, now)}
}
