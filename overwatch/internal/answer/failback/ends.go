package failback

import (
	"container/heap"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// ends are the waits with an automatic end, the earliest first, for container/heap.
type ends []*awaiting

func (q ends) Len() int           { return len(q) }
func (q ends) Less(i, j int) bool { return q[i].end.Before(q[j].end) }

func (q ends) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push adds an entry at the end.
func (q *ends) Push(a any) {
	a.(*awaiting).index = len(*q)
	*q = append(*q, a.(*awaiting))
}

// Pop removes the last entry.
func (q *ends) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return a
}

// setEnd makes Run end a wait at a time; zero: never. The caller holds mu, or is New.
func (t *Tracker) setEnd(a *awaiting, at time.Time) {
	if at.Equal(a.end) {
		return
	}
	isQueued := !a.end.IsZero()
	a.end = at
	switch {
	case at.IsZero():
		heap.Remove(&t.ends, a.index)
		return
	case isQueued:
		heap.Fix(&t.ends, a.index)
	default:
		heap.Push(&t.ends, a)
	}
	if t.ends[0] == a {
		t.wakeRun()
	}
}

// remove ends the wait of a region, and deletes the state of a domain without a further use. The caller holds mu.
func (t *Tracker) remove(a *awaiting) {
	t.setEnd(a, time.Time{})
	d := t.domains[a.at.domain]
	delete(d.awaiting, a.at.region)
	if len(d.awaiting) == 0 && !d.setting.Waits() {
		delete(t.domains, a.at.domain)
	}
}

// leaveUnused records that a wait has no effect from now on. The caller holds mu, or is New.
func (t *Tracker) leaveUnused(d *domain, a *awaiting) {
	a.health, a.canServeSince = policy.RegionHealth{}, time.Time{}
	if a.unusedSince.IsZero() {
		a.unusedSince = t.o.Now()
	}
	t.setEnd(a, a.endsAt(d.setting))
}

// endDue ends the waits that are due.
func (t *Tracker) endDue() {
	now := t.o.Now()
	var changed []string
	t.mu.Lock()
	for len(t.ends) > 0 && !now.Before(t.ends[0].end) {
		a := t.ends[0]
		t.remove(a)
		t.markUnsaved(a.at)
		changed = append(changed, a.at.domain)
	}
	t.mu.Unlock()
	for _, name := range changed {
		t.o.Changed(name)
	}
}

// untilNext returns the time until the next automatic end of a wait, at most an hour.
func (t *Tracker) untilNext() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ends) == 0 {
		return time.Hour
	}
	return min(max(t.ends[0].end.Sub(t.o.Now()), 0), time.Hour)
}
