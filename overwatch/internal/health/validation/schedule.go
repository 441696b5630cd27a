package validation

import (
	"container/heap"
	"math/rand/v2"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// startSpread is the time that each of the targets that come together adds to the time over which their first checks
// are spread: a thousand checks a second are a tenth of a core, and a single new backend does not wait.
const startSpread = time.Millisecond

// undecidedPart is the part of an interval after which a target without a verdict is checked again, if its last check
// failed or its success was not enough. A backend that died while this node was away is found soon, and yet one lost
// packet takes nothing out.
const undecidedPart = 4

// schedule holds the targets with the times of their next checks. It has no goroutine and no clock.
type schedule struct {
	settings Settings
	entries  map[registry.ID]*entry
	// plain and heavy share the checks out.
	plain, heavy pool
	// initial counts the targets of the start that have not been attempted; -1 before the first call of follow.
	initial int
}

// newSchedule returns an empty schedule for settings that are complete.
func newSchedule(settings Settings) *schedule {
	s := &schedule{entries: map[registry.ID]*entry{}, initial: -1}
	s.set(settings)
	return s
}

// set puts settings in force; what they mean for the targets comes with the next call of follow.
func (s *schedule) set(settings Settings) {
	s.settings = settings
	s.plain.most, s.heavy.most = settings.Concurrency, heavyConcurrency(settings.Concurrency)
}

// place puts an entry whose check is not under way into the queue of its pool, by its time.
func (s *schedule) place(e *entry) {
	l := &s.plain
	if heavy(e.target.Spec) {
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

// running returns the number of checks under way.
func (s *schedule) running() int { return s.plain.running + s.heavy.running }

// follow replaces the targets by the given ones, with the settings in force. Targets that were there keep their state,
// and keep their time if they are checked as before, unless their interval is shorter now. New targets, and those that
// are checked in another way, are due soon.
func (s *schedule) follow(targets []registry.CheckTarget, now time.Time) {
	var fresh []*entry
	known := make(map[registry.ID]*entry, len(targets))
	for _, t := range targets {
		t.Spec = s.settings.Given(t.Spec)
		e := s.entries[t.ID]
		if e == nil {
			e = newEntry(t)
			e.initial = s.initial < 0
			fresh = append(fresh, e)
		} else if e.target.Spec != t.Spec && s.change(e, t, now) {
			fresh = append(fresh, e)
		}
		known[t.ID] = e
	}
	for id, e := range s.entries {
		if known[id] == nil {
			s.drop(e)
		}
	}
	s.entries = known
	if s.initial < 0 {
		s.initial = len(fresh)
	}
	over := min(s.settings.Interval, time.Duration(len(fresh))*startSpread)
	for _, e := range fresh {
		e.due = now.Add(rand.N(over))
		s.place(e)
	}
}

// change replaces the check of an entry; one under way ends as it was. soon tells that the new check is made in another
// way, so that the caller should have it made soon.
func (s *schedule) change(e *entry, t registry.CheckTarget, now time.Time) (soon bool) {
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
		s.hasten(e, now)
	}
	return another
}

// hasten moves the next check of an entry forward where it is due later than an interval from now, as after a shorter
// interval was set. The new time is random within that interval, so that not all checks come at once.
func (s *schedule) hasten(e *entry, now time.Time) {
	if interval := e.target.Spec.Interval; e.index >= 0 && e.due.Sub(now) > interval {
		e.due = now.Add(rand.N(interval))
		s.place(e)
	}
}

// drop forgets an entry; calls that wait for its verdict end.
func (s *schedule) drop(e *entry) {
	e.gone.Store(true)
	if e.index >= 0 {
		heap.Remove(&e.pool.queue, e.index)
	}
	s.attempted(e)
	e.release(nil)
}

// attempted notes the first attempt of an entry, or that it is gone; the first cycle no longer waits for it.
func (s *schedule) attempted(e *entry) {
	if e.initial {
		e.initial = false
		s.initial--
	}
}

// next returns the entry whose check should have started by now and may, marked as running; nil if there is none.
func (s *schedule) next(now time.Time) *entry {
	if e := s.plain.next(now); e != nil {
		return e
	}
	return s.heavy.next(now)
}

// finish takes back an entry whose check has ended and plans the next one.
func (s *schedule) finish(f finding, now time.Time) {
	e := f.entry
	e.running = false
	e.pool.running--
	if e.gone.Load() {
		return
	}
	s.attempted(e)
	if e.former != nil {
		e.replaceTracker(*e.former)
	}
	if e.again {
		e.again = false
		e.due = now
	} else {
		e.release(&f.verdict)
		e.due = s.nextDue(e, f.verdict.Outcome, now)
	}
	s.place(e)
}

// nextDue returns the time of the next check: an interval after the due time of the last check, or now if that time has
// passed. The interval is the fast interval if the last result contradicts the state, and at most a quarter of the
// interval without a state. After a check that many targets had at the same time, the next check is up to half an
// interval earlier, at random, so that the checks move apart.
func (s *schedule) nextDue(e *entry, last check.Outcome, now time.Time) time.Time {
	gap := e.target.Spec.IntervalAfter(&e.tracker)
	switch undecided := e.tracker.State() == check.StateUnknown && last != check.Unknown; {
	case undecided:
		gap = min(gap, e.target.Spec.Interval/undecidedPart)
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

// expedite makes every target that b wants due now. Those under way are checked again when they have ended.
func (s *schedule) expedite(b *batch, now time.Time) {
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
		s.place(e)
	}
	b.finishIfComplete()
}

// overdue returns how late the check is that waits longest, and the time until one may start; ok is false if none may
// before another has ended.
func (s *schedule) overdue(now time.Time) (late, wait time.Duration, ok bool) {
	late, wait, ok = s.plain.overdue(now)
	lateHeavy, waitHeavy, okHeavy := s.heavy.overdue(now)
	if okHeavy && (!ok || waitHeavy < wait) {
		wait = waitHeavy
	}
	return max(late, lateHeavy), wait, ok || okHeavy
}
