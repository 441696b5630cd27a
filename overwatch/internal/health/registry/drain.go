package registry

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrUnknownBackend is wrapped by commands about a backend that the registry does not have.
var ErrUnknownBackend = errors.New("no such backend")

// drainSteps is in how many steps a drain lowers a share. Each step publishes the service anew, so a drain costs this
// many publications however long it takes.
const drainSteps = 20

// MaxDrainTime bounds a drain: a longer one is a mistyped unit.
const MaxDrainTime = 24 * time.Hour

// drain lowers a backend's share linearly from 1 to 0.
type drain struct {
	since time.Time
	over  time.Duration
}

// share returns what is left at now: 1 at the start, 0 from the end.
func (d *drain) share(now time.Time) float64 {
	return 1 - float64(d.step(now))/drainSteps
}

// step returns how many of the steps are done at now.
func (d *drain) step(now time.Time) int {
	elapsed := now.Sub(d.since)
	if elapsed >= d.over || d.over == 0 {
		return drainSteps
	}
	return int(max(elapsed, 0) * drainSteps / d.over)
}

// next returns when the step after the one at now is due; moving is false at the end.
func (d *drain) next(now time.Time) (at time.Time, moving bool) {
	step := d.step(now)
	if step == drainSteps {
		return time.Time{}, false
	}
	return d.since.Add((d.over*time.Duration(step+1) + drainSteps - 1) / drainSteps), true
}

func (d *drain) ends() time.Time { return d.since.Add(d.over) }

// drains returns the operator's drain of r and its agent's, each nil for none that counts.
func (r *record) drains() [2]*drain {
	var both [2]*drain
	both[0] = r.drain
	if r.claim != nil && !r.outsider() {
		both[1] = r.claim.drain
	}
	return both
}

// applyDrains lowers b's share as the drains of r ask for; the one that is further counts.
func (b *Backend) applyDrains(r *record, now time.Time) {
	for _, d := range r.drains() {
		if d == nil {
			continue
		}
		b.Share = min(b.Share, d.share(now))
		if !b.Draining || d.ends().Before(b.DrainEndsAt) {
			b.DrainEndsAt = d.ends()
		}
		b.Draining = true
	}
	if b.Share == 0 && b.MayServe {
		b.MayServe, b.Reason = false, ReasonDrained
		if b.Override != nil {
			b.Reason = ReasonDrainedAnyway
		}
	}
}

// nextDrainStep returns when the share of r changes next.
func (r *record) nextDrainStep(now time.Time) (at time.Time, moving bool) {
	for _, d := range r.drains() {
		if d == nil {
			continue
		}
		if next, more := d.next(now); more && (!moving || next.Before(at)) {
			at, moving = next, true
		}
	}
	return at, moving
}

// SetDrain begins to drain a backend: its share falls linearly to zero over the given time, then it does not serve
// until ClearDrain. Zero means the time that Options.DrainTime gives. A drain that has begun already is replaced. It
// returns when the backend will have stopped serving. The drain is on disk when SetDrain returns; an error means that
// it is not draining.
func (r *Registry) SetDrain(ctx context.Context, id ID, over time.Duration) (endsAt time.Time, err error) {
	if over < 0 || over > MaxDrainTime {
		return time.Time{}, fmt.Errorf("drain time %v: want 0 to %v", over, MaxDrainTime)
	}
	made, err := r.redrain(ctx, id, func(w *writer, now time.Time) *drain { return w.newDrain(id.Service, over, now) })
	if err != nil {
		return time.Time{}, fmt.Errorf("draining %s: %w", id, err)
	}
	return made.ends(), nil
}

// redrain gives a backend another drain of the operator's, nil for none, and waits until it is on disk. If it cannot be
// stored, the one before counts again.
func (r *Registry) redrain(ctx context.Context, id ID, next func(*writer, time.Time) *drain) (*drain, error) {
	type change struct {
		before, after *drain
		stored        chan error
	}
	put := func(w *writer, now time.Time, to func(*record) *drain) (change, error) {
		rec := w.lookup(id)
		if rec == nil {
			return change{}, ErrUnknownBackend
		}
		c := change{before: rec.drain, after: to(rec)}
		rec.drain = c.after
		w.refresh(rec, now)
		c.stored = w.keepNow(rec)
		return c, nil
	}
	made, err := ask(ctx, r, func(w *writer, now time.Time) (change, error) {
		return put(w, now, func(*record) *drain { return next(w, now) })
	})
	if err != nil {
		return nil, err
	}
	select {
	case err = <-made.stored:
	case <-r.stopped:
		err = ErrStopped
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return made.after, nil
	}
	_, undone := ask(context.WithoutCancel(ctx), r, func(w *writer, now time.Time) (change, error) {
		return put(w, now, func(rec *record) *drain {
			if rec.drain != made.after { // somebody else's by now
				return rec.drain
			}
			return made.before
		})
	})
	return nil, errors.Join(err, undone)
}

// ClearDrain gives a backend its full share back at once, unless its agent is draining it, and returns when that is on
// disk. It is no error if it was not draining.
func (r *Registry) ClearDrain(ctx context.Context, id ID) error {
	if _, err := r.redrain(ctx, id, func(*writer, time.Time) *drain { return nil }); err != nil {
		return fmt.Errorf("ending the drain of %s: %w", id, err)
	}
	return nil
}

// newDrain returns a drain that begins now and takes the given time, or the service's own for zero.
func (w *writer) newDrain(service string, over time.Duration, now time.Time) *drain {
	if over == 0 {
		over = w.options.DrainTime(service)
	}
	return &drain{since: now, over: min(max(over, 0), MaxDrainTime)}
}

// endLostDrain ends the drain that a lost agent asked for: it may never come back to end it, and the backend has others
// that speak for it.
func (w *writer) endLostDrain(rec *record, now time.Time) {
	if c := rec.claim; c != nil && c.drain != nil && w.gone(c.agent, now) {
		c.drain, c.said.draining = nil, false
		w.keep(rec)
	}
}

// followAgentDrain begins or ends the drain that the agent of rec asks for. A drain that has begun keeps its time.
func (w *writer) followAgentDrain(rec *record, now time.Time) {
	c := rec.claim
	if c.said.draining == (c.drain != nil) {
		return
	}
	c.drain = nil
	if c.said.draining {
		c.drain = w.newDrain(rec.id.Service, time.Duration(c.said.drainMillis)*time.Millisecond, now)
	}
	w.keep(rec)
}
