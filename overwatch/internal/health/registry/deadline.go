package registry

import "time"

// tick is the grain of the writer's timers: deadlines within one tick are met together, so ten thousand agents that fall
// silent in one second wake it ten times. Whatever depends on time happens at most this late.
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

// deadlines is a heap with the next deadline first. container/heap would box every entry.
type deadlines []deadline

func (q *deadlines) push(at deadlineAt, what timed) {
	*q = append(*q, deadline{at, what})
	heap := *q
	for i := len(heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if heap[parent].at <= heap[i].at {
			return
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
}

// pop removes the next deadline. There must be one.
func (q *deadlines) pop() deadline {
	heap := *q
	first := heap[0]
	last := len(heap) - 1
	heap[0], heap[last] = heap[last], deadline{}
	heap = heap[:last]
	*q = heap
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if heap[child].at < heap[least].at {
				least = child
			}
		}
		if least == i {
			return first
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// at returns the deadline for t: the next whole tick that is not before it.
func (w *writer) at(t time.Time) deadlineAt {
	since := t.Sub(w.start)
	return max(deadlineAt((since+tick-1)/tick*tick), 1)
}

// wake sees to it that what.due is called at t. set holds the deadline that what is waiting for, zero for none: an earlier
// one stays, a later one is replaced.
func (w *writer) wake(what timed, set *deadlineAt, t time.Time) {
	at := w.at(t)
	if *set != 0 && *set <= at {
		return
	}
	*set = at
	w.deadlines.push(at, what)
}

// expire meets every deadline that has come.
func (w *writer) expire(now time.Time) {
	since := deadlineAt(now.Sub(w.start))
	for len(w.deadlines) > 0 && w.deadlines[0].at <= since {
		d := w.deadlines.pop()
		d.what.due(w, d.at, now)
	}
}
