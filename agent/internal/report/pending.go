package report

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// transitionPause is the wait for the Ack to a transition before it is repeated. It doubles
	// each time.
	transitionPause = 300 * time.Millisecond
	// maxTransitionPause is the longest such wait. By then a heartbeat has carried the change.
	maxTransitionPause = 5 * time.Second
	// maxPending bounds the waiting changes. The next heartbeat carries the rest.
	maxPending = 2 * wire.MaxBackends
)

// pending holds the unacknowledged changes of backends, the newest of each.
type pending struct {
	mu      sync.Mutex
	changes map[backendKey]*change
}

type backendKey struct {
	service string
	address netip.Addr
	port    uint16
}

// change is one backend's newest state.
type change struct {
	backend wire.Backend
	at      time.Time // when it happened
	next    time.Time // when to send it (again); zero: at once
	tries   int
	seq     uint64 // of the newest message with it
}

func newPending() *pending { return &pending{changes: make(map[backendKey]*change)} }

// put adds a change. It replaces an older one of the same backend.
func (p *pending) put(b wire.Backend, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := backendKey{b.Service, b.Address, b.Port}
	if _, known := p.changes[key]; known || len(p.changes) < maxPending {
		p.changes[key] = &change{backend: b, at: now}
	}
}

// due sends every change whose time has come. send gets the number of earlier attempts, and returns
// the sequence number of the message, or 0 if it could not be sent; over is true for a change that
// is to be dropped.
func (p *pending) due(now time.Time, send func(b wire.Backend, try int) (seq uint64, over bool)) {
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

// earliest returns the time of the next due change; ok is false if there is none.
func (p *pending) earliest() (at time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.changes {
		if !ok || c.next.Before(at) {
			at, ok = c.next, true
		}
	}
	return at, ok
}

// acknowledged removes the change that was sent last with seq.
func (p *pending) acknowledged(seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if c.seq == seq {
			delete(p.changes, key)
		}
	}
}

// covered removes the changes made before an acknowledged heartbeat was built.
func (p *pending) covered(made time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if !c.at.After(made) {
			delete(p.changes, key)
		}
	}
}
