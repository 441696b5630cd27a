package report

import (
	"net/netip"
	"sync"
	"time"

	"gslb.internal/shared/wire"
)

const (
	// transitionPause is how long a transition waits for its acknowledgement before it is sent again; it doubles each time.
	transitionPause = 300 * time.Millisecond
	// maxTransitionPause is the longest such wait: by then a heartbeat has said it anyway.
	maxTransitionPause = 5 * time.Second
	// maxPending bounds the changes that wait. What does not fit is said by the next heartbeat.
	maxPending = 2 * wire.MaxBackends
)

// pending holds the changes of backends that a node has not acknowledged yet, the newest one of each backend.
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

// put notes a change; an older one of the same backend is superseded.
func (p *pending) put(b wire.Backend, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := backendKey{b.Service, b.Address, b.Port}
	if _, known := p.changes[key]; known || len(p.changes) < maxPending {
		p.changes[key] = &change{backend: b, at: now}
	}
}

// due has the changes sent whose time has come. send is told how often one was tried before, and returns the sequence number
// under which it went, 0 if it could not.
func (p *pending) due(now time.Time, send func(b wire.Backend, try int) uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.changes {
		if c.next.After(now) {
			continue
		}
		if seq := send(c.backend, c.tries); seq != 0 {
			c.seq = seq
		}
		c.next = now.Add(min(transitionPause<<min(c.tries, 8), maxTransitionPause))
		c.tries++
	}
}

// earliest returns when something is due next; ok is false if nothing waits.
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

// acknowledged forgets the change that was sent last under seq.
func (p *pending) acknowledged(seq uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if c.seq == seq {
			delete(p.changes, key)
		}
	}
}

// covered forgets what happened before a heartbeat that was acknowledged was made.
func (p *pending) covered(made time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, c := range p.changes {
		if !c.at.After(made) {
			delete(p.changes, key)
		}
	}
}
