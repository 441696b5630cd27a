package gossip

import (
	"context"
	"sync"

	"gslb.internal/shared/frame"
)

// urgentRow bounds the urgent messages handled in a row while heartbeats wait: transitions go first, but a flood
// of them does not make every agent stale.
const urgentRow = 8

// queue holds the messages that wait for one group of workers.
type queue struct {
	mu     sync.Mutex
	urgent *lane
	plain  *lane
	row    int // urgent messages since the last plain one

	wake chan struct{} // holds one token while messages may wait
}

func newQueue() *queue {
	return &queue{urgent: newLane(), plain: newLane(), wake: make(chan struct{}, 1)}
}

// put queues a message, and returns the reason if one was dropped for it. It never blocks.
func (q *queue) put(a arrival, urgent bool) frame.Fault {
	q.mu.Lock()
	l := q.plain
	if urgent {
		l = q.urgent
	}
	fault := l.add(a)
	q.mu.Unlock()
	q.signal()
	return fault
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take waits for a message; ok is false once ctx has ended.
func (q *queue) take(ctx context.Context) (a arrival, ok bool) {
	for {
		a, ok, more := q.pop()
		if more {
			q.signal() // for the other workers of the group
		}
		if ok {
			return a, true
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return arrival{}, false
		}
	}
}

func (q *queue) pop() (a arrival, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first, second := q.urgent, q.plain
	if q.row >= urgentRow {
		first, second = second, first
	}
	if a, ok = first.next(); !ok {
		first = second
		a, ok = first.next()
	}
	if first == q.urgent {
		q.row++
	} else {
		q.row = 0
	}
	return a, ok, q.urgent.count+q.plain.count > 0
}

// depths returns how many messages wait.
func (q *queue) depths() (urgent, plain int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.urgent.count, q.plain.count
}
