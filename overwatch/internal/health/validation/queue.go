package validation

import (
	"container/heap"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// queue is a heap of entries by due time, for container/heap. Each entry knows its place.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for container/heap only.
func (q *queue) Push(x any) {
	e := x.(*entry)
	e.index = len(*q)
	*q = append(*q, e)
}

// Pop is for container/heap only.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = -1
	return e
}

// pool is a part of the schedule with a bound of its own on the checks under way. Checks that match a pattern have a
// pool, so that they, which cost processor time, do not hold up the others.
type pool struct {
	queue   queue
	running int
	most    int
}

// heavy reports whether a check costs noticeable processor time of this node.
func heavy(spec check.Spec) bool { return spec.Detail.Detail().BodyMatches != "" }

// next returns the entry whose check should have started by now and may, marked as running; nil if there is none.
func (l *pool) next(now time.Time) *entry {
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
func (l *pool) overdue(now time.Time) (late, wait time.Duration, ok bool) {
	if len(l.queue) == 0 {
		return 0, 0, false
	}
	d := now.Sub(l.queue[0].due)
	return max(d, 0), max(-d, 0), l.running < l.most
}

// batch is one call of CheckNow. Run's goroutine fills it and then closes done; the caller reads it afterwards.
type batch struct {
	wants    func(registry.ID) bool
	missing  int
	verdicts []registry.CheckResult
	done     chan struct{}
}

func (b *batch) finishIfComplete() {
	if b.missing == 0 {
		close(b.done)
	}
}

// release gives the entry's verdict to everyone who waits for it; nil if there will be none.
func (e *entry) release(v *registry.CheckResult) {
	for _, b := range e.waiting {
		if v != nil {
			b.verdicts = append(b.verdicts, *v)
		}
		b.missing--
		b.finishIfComplete()
	}
	e.waiting = nil
}
