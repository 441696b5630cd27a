package gossip

import (
	"context"
	"sync"

	"gslb.internal/shared/frame"
)

// maxUrgentInRow is the maximum number of consecutive urgent messages while heartbeats are queued. Urgent messages have
// priority, but a flood of them must not make all agents stale.
const maxUrgentInRow = 8

// queue has the messages for a group of workers.
type queue struct {
	mu          sync.Mutex
	urgent      *queueClass
	plain       *queueClass
	urgentCount int // urgent messages since the last other message

	wake chan struct{} // has an element while messages may be queued
}

func newQueue() *queue {
	return &queue{urgent: newQueueClass(), plain: newQueueClass(), wake: make(chan struct{}, 1)}
}

// add queues a message, and returns the reason if it dropped a message. It does not block.
func (q *queue) add(a arrival, urgent bool) frame.Fault {
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

// waitForMessage returns the next message; ok is false after the end of ctx.
func (q *queue) waitForMessage(ctx context.Context) (a arrival, ok bool) {
	for {
		a, ok, more := q.removeNext()
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

func (q *queue) removeNext() (a arrival, ok, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first, second := q.urgent, q.plain
	if q.urgentCount >= maxUrgentInRow {
		first, second = second, first
	}
	if a, ok = first.removeNext(); !ok {
		first = second
		a, ok = first.removeNext()
	}
	if first == q.urgent {
		q.urgentCount++
	} else {
		q.urgentCount = 0
	}
	return a, ok, q.urgent.count+q.plain.count > 0
}

// depths returns the numbers of queued messages.
func (q *queue) depths() (urgent, plain int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.urgent.count, q.plain.count
}
