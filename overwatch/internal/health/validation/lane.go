package validation

import (
	"container/heap"
	"time"

	"gslb.internal/shared/check"
)

// lane is the part of the schedule whose checks share a bound of how many may be under way. Checks that match a
// pattern have one of their own, so that those which cost processor time do not hold up the others.
type lane struct {
	queue   queue
	running int
	most    int
}

// heavy reports whether a check costs noticeable processor time of this node.
func heavy(spec check.Spec) bool { return spec.Detail.Detail().BodyMatches != "" }

// next returns the entry whose check should have started by now and may, marked as running; nil if there is none.
func (l *lane) next(now time.Time) *entry {
	if l.running >= l.most || len(l.queue) == 0 || l.queue[0].due.After(now) {
		return nil
	}
	e := heap.Pop(&l.queue).(*entry)
	e.running = true
	l.running++
	return e
}

// overdue returns how late the check is that waits longest, and the time until one may start. ok is false if none
// waits, or none may start before another has ended.
func (l *lane) overdue(now time.Time) (late, wait time.Duration, ok bool) {
	if len(l.queue) == 0 {
		return 0, 0, false
	}
	d := now.Sub(l.queue[0].due)
	return max(d, 0), max(-d, 0), l.running < l.most
}
