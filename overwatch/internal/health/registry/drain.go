package registry

import (
	"math"
	"time"

	"gslb.internal/shared/api"
)

// drainSteps is the number of steps in which a drain lowers a share. Each step publishes the service anew, so a drain
// costs this many publications however long it takes.
const drainSteps = 20

// MaxDrainTime bounds a drain: a longer one is a mistyped unit.
const MaxDrainTime = 24 * time.Hour

// drain lowers a backend's share linearly from 1 to a final share.
type drain struct {
	since time.Time
	over  time.Duration
	to    float64 // from 0 to below 1
}

// share returns the share at now: 1 at the start, to from the end.
func (d *drain) share(now time.Time) float64 {
	return 1 - (1-d.to)*float64(d.step(now))/drainSteps
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
	return d.since.Add(d.takes(step + 1)), true
}

// takes returns how long d takes for so many of its steps.
func (d *drain) takes(steps int) time.Duration {
	return (d.over*time.Duration(steps) + drainSteps - 1) / drainSteps
}

// goOn has d, which takes the place of before, begin where before has led to at now, so that nobody gets more traffic
// by being drained anew. Nil means that there was none.
func (d *drain) goOn(before *drain, now time.Time) {
	if before == nil {
		return
	}
	const rounding = 1e-9
	steps := math.Ceil((1-before.share(now))/(1-d.to)*drainSteps - rounding)
	if since := now.Add(-d.takes(int(min(steps, drainSteps)))); since.Before(d.since) {
		d.since = since
	}
}

func (d *drain) ends() time.Time { return d.since.Add(d.over) }

// further reports whether d leads to less than other, or to as much earlier.
func (d *drain) further(other *drain) bool {
	return d.to < other.to || d.to == other.to && d.ends().Before(other.ends())
}

// drains returns the operator's drain of r and its agent's, or that of the agent that has left, each nil for none that
// counts.
func (w *writer) drains(r *record, now time.Time) [2]*drain {
	var both [2]*drain
	if o := w.orderFor(api.OrderDrain, r.id, now); o != nil {
		both[0] = o.drain
	}
	switch {
	case r.claim != nil && !r.outsider():
		both[1] = r.claim.drain
	case r.parting != nil:
		both[1] = r.parting.drain
	}
	return both
}

// applyDrains lowers b's share for the drains of r. The drain that leads further counts for the other fields.
func (w *writer) applyDrains(b *Backend, r *record, now time.Time) {
	var furthest *drain
	for _, d := range w.drains(r, now) {
		if d == nil {
			continue
		}
		b.Share = min(b.Share, d.share(now))
		if furthest == nil || d.further(furthest) {
			furthest = d
		}
	}
	if furthest == nil {
		return
	}
	b.Draining, b.DrainEndsAt, b.DrainTo = true, furthest.ends(), furthest.to
	if b.Share == 0 && b.MayServe {
		b.MayServe, b.Reason = false, ReasonDrained
		if b.Override != nil {
			b.Reason = ReasonDrainedAnyway
		}
	}
}

// DrainTime returns how long a drain of a service's backend takes by default. Any goroutine may call it.
func (r *Registry) DrainTime(service string) time.Duration {
	return min(max(r.writer.options.DrainTime(service), 0), MaxDrainTime)
}

// newDrain returns an agent's drain that begins now and takes the given time, or the service's own for zero.
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
