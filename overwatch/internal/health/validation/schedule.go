package validation

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// startSpread is the time per new target over which the first checks of new targets are spread. The resulting rate of a
// thousand checks per second needs a tenth of a core. A single new backend is checked immediately.
const startSpread = time.Millisecond

// undecidedDivisor is the divisor of the interval for a target without a state, after a failed check or while more
// successes are required. A backend that failed while this node was down is detected soon, and a single lost packet
// does not make a backend unhealthy.
const undecidedDivisor = 4

// schedule contains the targets with the times of their next checks. It has no goroutine and no clock.
type schedule struct {
	settings Settings
	entries  map[registry.ID]*entry
	// plain and heavy are the pools of the checks without and with a pattern.
	plain, heavy pool
	// initial is the number of targets of the start without an attempt. It is -1 before the first call of follow.
	initial int
	// hintsEnd is the time until which the checks of the hints so far are spread.
	hintsEnd time.Time
}

// newSchedule returns an empty schedule for complete settings.
func newSchedule(settings Settings) *schedule {
	s := &schedule{entries: map[registry.ID]*entry{}, initial: -1}
	s.setSettings(settings)
	return s
}

// setSettings replaces the settings. replaceTargets applies them to the targets.
func (s *schedule) setSettings(settings Settings) {
	s.settings = settings
	s.plain.most, s.heavy.most = settings.Concurrency, heavyConcurrency(settings.Concurrency)
}

// enqueue adds an entry without a running check to the queue of its pool.
func (s *schedule) enqueue(e *entry) {
	l := &s.plain
	if isHeavy(e.target.Spec) {
		l = &s.heavy
	}
	switch {
	case e.index >= 0 && e.pool == l:
		heap.Fix(&l.queue, e.index)
		return
	case e.index >= 0:
		heap.Remove(&e.pool.queue, e.index)
	}
	e.pool = l
	heap.Push(&l.queue, e)
}

// running returns the number of running checks.
func (s *schedule) running() int { return s.plain.running + s.heavy.running }

// replaceTargets replaces the targets and uses the current settings. Existing targets keep their state. They keep their
// time unless check or interval changed. New and changed targets have an early time.
func (s *schedule) replaceTargets(targets []registry.CheckTarget, now time.Time) {
	var fresh []*entry
	known := make(map[registry.ID]*entry, len(targets))
	for _, t := range targets {
		t.Spec = s.settings.WithDefaults(t.Spec)
		e := s.entries[t.ID]
		if e == nil {
			e = newEntry(t)
			e.initial = s.initial < 0
			fresh = append(fresh, e)
		} else if e.target.Spec != t.Spec && s.replaceCheck(e, t, now) {
			fresh = append(fresh, e)
		}
		known[t.ID] = e
	}
	for id, e := range s.entries {
		if known[id] == nil {
			s.removeEntry(e)
		}
	}
	s.entries = known
	if s.initial < 0 {
		s.initial = len(fresh)
	}
	over := min(s.settings.Interval, time.Duration(len(fresh))*startSpread)
	for _, e := range fresh {
		e.due = now.Add(rand.N(over))
		s.enqueue(e)
	}
}

// replaceCheck replaces the check of an entry; a running check ends unchanged. soon is true if the kind of check
// changed, so that the caller schedules an early check.
func (s *schedule) replaceCheck(e *entry, t registry.CheckTarget, now time.Time) (soon bool) {
	former := e.target.Spec
	another := !former.SameAttempt(t.Spec)
	e.target = t
	e.spread = e.spread || another
	if e.running {
		if e.former == nil {
			e.former = &former
		}
		e.again = e.again || another
		return false
	}
	e.replaceTracker(former)
	if !another {
		s.moveForward(e, now)
	}
	return another
}

// moveForward moves the next check of an entry forward to a random time within the next interval, unless it is already
// earlier. It is used after a decrease of the interval.
func (s *schedule) moveForward(e *entry, now time.Time) {
	if interval := e.target.Spec.Interval; e.index >= 0 && e.due.Sub(now) > interval {
		e.due = now.Add(rand.N(interval))
		s.enqueue(e)
	}
}

// removeEntry removes an entry and ends the batches that wait for it.
func (s *schedule) removeEntry(e *entry) {
	e.isDropped.Store(true)
	if e.index >= 0 {
		heap.Remove(&e.pool.queue, e.index)
	}
	s.countAttempt(e)
	e.notifyWaiting(nil)
}

// countAttempt records the first attempt or the removal of an entry, for the first cycle.
func (s *schedule) countAttempt(e *entry) {
	if e.initial {
		e.initial = false
		s.initial--
	}
}

// nextEntry returns the next due entry and marks it as running, or nil if no check may start.
func (s *schedule) nextEntry(now time.Time) *entry {
	if e := s.plain.nextEntry(now); e != nil {
		return e
	}
	return s.heavy.nextEntry(now)
}

// finishCheck handles the end of a check and schedules the next check.
func (s *schedule) finishCheck(f checkOutcome, now time.Time) {
	e := f.entry
	e.running, e.ended = false, now
	e.pool.running--
	if e.isDropped.Load() {
		return
	}
	s.countAttempt(e)
	if e.former != nil {
		e.replaceTracker(*e.former)
	}
	if e.again {
		e.again = false
		e.due = now
	} else {
		e.notifyWaiting(&f.verdict)
		e.due = s.nextDue(e, f.verdict.Outcome, now)
	}
	s.enqueue(e)
}

// nextDue returns the time of the next check: an interval after the planned time of the last check, or now if that time
// has passed. The interval is the fast interval if the last result contradicts the state. Without a state, it is at
// most a quarter of the interval. After simultaneous checks of many targets, nextDue subtracts a random time of up to
// half an interval, so that the checks spread out.
func (s *schedule) nextDue(e *entry, last check.Outcome, now time.Time) time.Time {
	gap := e.target.Spec.IntervalAfter(&e.tracker)
	switch undecided := e.tracker.State() == check.StateUnknown && last != check.Unknown; {
	case undecided:
		gap = min(gap, e.target.Spec.Interval/undecidedDivisor)
		gap -= rand.N(gap/2 + 1)
	case e.spread:
		e.spread = false
		gap -= rand.N(gap/2 + 1)
	}
	if due := e.due.Add(gap); due.After(now) {
		return due
	}
	return now
}

// checkNow schedules checks of all targets of b immediately. It repeats running checks after their end.
func (s *schedule) checkNow(b *batch, now time.Time) {
	for id, e := range s.entries {
		if !b.wants(id) {
			continue
		}
		b.missing++
		e.waiting = append(e.waiting, b)
		e.spread = true
		if e.running {
			e.again = true
			continue
		}
		e.due = now
		s.enqueue(e)
	}
	b.finishIfComplete()
}

// overdue returns the delay of the longest-waiting check, and the time until a check may start. ok is false if no check
// may start before another check has ended.
func (s *schedule) overdue(now time.Time) (late, wait time.Duration, ok bool) {
	late, wait, ok = s.plain.overdue(now)
	lateHeavy, waitHeavy, okHeavy := s.heavy.overdue(now)
	if okHeavy && (!ok || waitHeavy < wait) {
		wait = waitHeavy
	}
	return max(late, lateHeavy), wait, ok || okHeavy
}
