package report

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// transitionPause is the waiting time for the Ack to a transition before its first repetition. It doubles with each
	// repetition.
	transitionPause = 300 * time.Millisecond
	// maxTransitionPause is the maximum of this time. A heartbeat reports the change earlier.
	maxTransitionPause = 5 * time.Second
	// maxPending is the maximum number of queued changes. The next heartbeat reports all other changes.
	maxPending = 2 * wire.MaxBackends
)

// pending has the unacknowledged changes of backends, the latest change of each backend.
type pending struct {
	mu      sync.Mutex
	changes map[backendKey]*change
}

type backendKey struct {
	service string
	address netip.Addr
	port    uint16
}

// change is the latest state of a backend.
type change struct {
	backend wire.Backend
	at      time.Time // time of the change
	next    time.Time // time of the next message; zero for immediately
	tries   int
	seq     uint64 // of the last message with the change
}

func newPending() *pending { return &pending{changes: make(map[backendKey]*change)} }

// addChange adds a change. It replaces an older change of the same backend.
func (p *pending) addChange(b wire.Backend, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := backendKey{b.Service, b.Address, b.Port}
	if _, known := p.changes[key]; known || len(p.changes) < maxPending {
		p.changes[key] = &change{backend: b, at: now}
	}
}

// sendDue sends each change with a due time that has passed. send receives the number of earlier attempts, and returns
// the sequence number of the message, or 0 after an error. over is true for a change that must be dropped.
func (p *pending) sendDue(now time.Time, send func(b wire.Backend, try int) (seq uint64, over bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if c.next.After(now) {
			continue
		}
		seq, over := send(c.backend, c.tries)
		if over {
			delete(p.changes, key)
			continue
		}
		if seq != 0 {
			c.seq = seq
		}
		c.next = now.Add(min(transitionPause<<min(c.tries, 8), maxTransitionPause))
		c.tries++
	}
}

// nextTime returns the time of the next message. ok is false without changes.
func (p *pending) nextTime() (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.changes {
		if !ok || c.next.Before(at) {
			at, ok = c.next, true
		}
	}
	return at, ok
}

// removeAcknowledged removes the change with the last message seq.
func (p *pending) removeAcknowledged(seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if c.seq == seq {
			delete(p.changes, key)
		}
	}
}

// removeOlder removes the changes from before an acknowledged heartbeat was built.
func (p *pending) removeOlder(made time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if !c.at.After(made) {
			delete(p.changes, key)
		}
	}
}
