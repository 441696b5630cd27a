package validation

import (
	"container/heap"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// queue is a heap of entries by due time, for container/heap. Each entry stores its index.
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

// pool is a part of the schedule with its own limit of running checks. Checks with a pattern have a separate pool,
// because they need CPU time and must not delay other checks.
type pool struct {
	queue   queue
	running int
	most    int
}

// isHeavy reports whether a check needs much CPU time.
func isHeavy(spec check.Spec) bool { return spec.Detail.Detail().BodyMatches != "" }

// nextEntry returns the next due entry and marks it as running, or nil if no check may start.
func (l *pool) nextEntry(now time.Time) *entry {
	if l.running >= l.most || len(l.queue) == 0 || l.queue[0].due.After(now) {
		return nil
	}
	e := heap.Pop(&l.queue).(*entry)
	e.running = true
	l.running++
	return e
}

// overdue returns the delay of the longest-waiting check, and the time until a check may start. ok is false if no check
// is waiting, or if the limit of running checks is reached.
func (l *pool) overdue(now time.Time) (late, wait time.Duration, ok bool) {
	if len(l.queue) == 0 {
		return 0, 0, false
	}
	d := now.Sub(l.queue[0].due)
	return max(d, 0), max(-d, 0), l.running < l.most
}

// batch is a call of CheckNow. The goroutine of Run fills it and closes done; then the caller reads it.
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

// notifyWaiting passes the result to all waiting batches. result is nil if there will be no result.
func (e *entry) notifyWaiting(v *registry.CheckResult) {
	for _, b := range e.waiting {
		if v != nil {
			b.verdicts = append(b.verdicts, *v)
		}
		b.missing--
		b.finishIfComplete()
	}
	e.waiting = nil
}
