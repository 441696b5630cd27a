package registry

import (
	"container/heap"
	"time"
)

// tick is the grain of the writer's timers: deadlines within one tick are met together, so ten thousand agents that
// fall silent in one second wake it ten times. Whatever depends on time happens at most this late.
const tick = 100 * time.Millisecond

// deadlineAt is a moment as the time since the registry's start, never zero for a deadline that is set.
type deadlineAt time.Duration

// timed is something of the writer's that depends on time.
type timed interface {
	// due is called when the deadline at was reached. One that has been replaced since is the callee's to ignore.
	due(w *writer, at deadlineAt, now time.Time)
}

type deadline struct {
	at   deadlineAt
	what timed
}

// deadlines is a heap with the next deadline first, for container/heap.
type deadlines []deadline

func (q deadlines) Len() int           { return len(q) }
func (q deadlines) Less(i, j int) bool { return q[i].at < q[j].at }
func (q deadlines) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *deadlines) Push(d any)        { *q = append(*q, d.(deadline)) }

// Pop removes the last entry.
func (q *deadlines) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	(*q)[last] = deadline{}
	*q = (*q)[:last]
	return d
}

// at returns the deadline for t: the next whole tick that is not before it.
func (w *writer) at(t time.Time) deadlineAt {
	since := t.Sub(w.start)
	return max(deadlineAt((since+tick-1)/tick*tick), 1)
}

// wake sees to it that what.due is called at t. set holds the deadline that what is waiting for, zero for none: an
// earlier one stays, a later one is replaced.
func (w *writer) wake(what timed, set *deadlineAt, t time.Time) {
	at := w.at(t)
	if *set != 0 && *set <= at {
		return
	}
	*set = at
	heap.Push(&w.deadlines, deadline{at, what})
}

// expire meets every deadline that has come.
func (w *writer) expire(now time.Time) {
	since := deadlineAt(now.Sub(w.start))
	for len(w.deadlines) > 0 && w.deadlines[0].at <= since {
		d := heap.Pop(&w.deadlines).(deadline)
		d.what.due(w, d.at, now)
	}
}
