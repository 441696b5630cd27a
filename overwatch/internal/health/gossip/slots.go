package gossip

import (
	"container/list"
	"net"
	"net/netip"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/trust"
	"gslb.internal/shared/frame"
)

const (
	maxStreams        = 256 // at once
	maxStreamsPerHost = 8   // at once from one address, or one IPv6 /64
	// streamGrace is the age from which on an unfinished stream may lose its place to a newer one when none is free.
	// An honest request is one short write, so it is there long before.
	streamGrace = 500 * time.Millisecond
)

// slots bounds the streams. At a limit the oldest stream that is still being read gives way to the newcomer, so that
// connections that say nothing cannot keep agents out.
type slots struct {
	mu      sync.Mutex
	perHost map[netip.Prefix]int
	open    list.List // of *slot, oldest first
	closed  bool
}

// slot is the place of one stream. Its fields belong to slots.mu, save conn.
type slot struct {
	conn    net.Conn
	host    netip.Prefix
	since   time.Time
	reading bool
	evicted bool
	element *list.Element // nil once released
}

func newSlots() *slots { return &slots{perHost: make(map[netip.Prefix]int)} }

// take admits a connection or says why not. Even then it returns a slot, which is released already.
func (s *slots) take(conn net.Conn, from netip.Addr, now time.Time) (*slot, frame.Fault) {
	n := &slot{conn: conn, host: trust.HostOf(from), since: now, reading: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return n, frame.Incomplete
	}
	if s.perHost[n.host] >= maxStreamsPerHost && !s.evict(now, func(o *slot) bool { return o.host == n.host }) {
		return n, dropAddressLimit
	}
	if s.open.Len() >= maxStreams && !s.evict(now, func(*slot) bool { return true }) {
		return n, dropStreamLimit
	}
	n.element = s.open.PushBack(n)
	s.perHost[n.host]++
	return n, frame.None
}

// evict closes the oldest unfinished stream that fits and has had its time.
func (s *slots) evict(now time.Time, fits func(*slot) bool) bool {
	for e := s.open.Front(); e != nil; e = e.Next() {
		o := e.Value.(*slot)
		if now.Sub(o.since) < streamGrace {
			return false // all others are younger still
		}
		if o.reading && fits(o) {
			o.evicted = true
			o.conn.Close()
			s.remove(o)
			return true
		}
	}
	return false
}

func (s *slots) remove(o *slot) {
	if o.element == nil {
		return
	}
	s.open.Remove(o.element)
	o.element = nil
	if s.perHost[o.host]--; s.perHost[o.host] == 0 {
		delete(s.perHost, o.host)
	}
}

// complete notes that the stream's request has arrived whole: it can no longer be evicted.
func (s *slots) complete(o *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.reading = false
}

// release frees the slot; any number of times.
func (s *slots) release(o *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(o)
}

// reason returns why reading the stream ended: fault, unless this node ended it.
func (s *slots) reason(o *slot, fault frame.Fault) frame.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.evicted {
		return dropEvicted
	}
	return fault
}

// count returns the number of streams open now.
func (s *slots) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.Len()
}

// closeAll ends every stream and admits no more.
func (s *slots) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for e := s.open.Front(); e != nil; e = e.Next() {
		e.Value.(*slot).conn.Close()
	}
}
