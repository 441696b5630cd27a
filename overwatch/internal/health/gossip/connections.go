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
	maxStreams        = 256 // open at a time
	maxStreamsPerHost = 8   // open at a time from one IPv4 address, or one IPv6 /64
	// streamGrace is the age from which a stream whose request is not complete may be closed for a newer one at a limit.
	// An honest request is one short write, so it is complete long before.
	streamGrace = 500 * time.Millisecond
)

// connections holds the open streams and bounds their number. At a limit the oldest one whose request is not complete
// is closed for a new one, so that silent connections cannot keep agents out.
type connections struct {
	mu      sync.Mutex
	perHost map[netip.Prefix]int
	open    list.List // of *connection, oldest first
	closed  bool
}

// connection is one stream. connections.mu guards its fields but conn.
type connection struct {
	conn    net.Conn
	host    netip.Prefix
	since   time.Time
	reading bool
	evicted bool
	element *list.Element // nil once released
}

func newConnections() *connections { return &connections{perHost: make(map[netip.Prefix]int)} }

// admit adds a stream, or returns the reason why it may not stay open. The connection is returned in either case; that
// of a refused stream is released already.
func (s *connections) admit(conn net.Conn, from netip.Addr, now time.Time) (*connection, frame.Fault) {
	n := &connection{conn: conn, host: trust.HostOf(from), since: now, reading: true}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return n, frame.Incomplete
	}
	if s.perHost[n.host] >= maxStreamsPerHost && !s.evict(now, func(o *connection) bool { return o.host == n.host }) {
		return n, dropAddressLimit
	}
	if s.open.Len() >= maxStreams && !s.evict(now, func(*connection) bool { return true }) {
		return n, dropStreamLimit
	}
	n.element = s.open.PushBack(n)
	s.perHost[n.host]++
	return n, frame.None
}

// evict closes the oldest incomplete stream that fits and is older than streamGrace. It reports whether there was one.
func (s *connections) evict(now time.Time, fits func(*connection) bool) bool {
	for e := s.open.Front(); e != nil; e = e.Next() {
		o := e.Value.(*connection)
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

func (s *connections) remove(o *connection) {
	if o.element == nil {
		return
	}
	s.open.Remove(o.element)
	o.element = nil
	if s.perHost[o.host]--; s.perHost[o.host] == 0 {
		delete(s.perHost, o.host)
	}
}

// complete notes that the stream's request has arrived whole, so that it is not evicted any more.
func (s *connections) complete(o *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.reading = false
}

// release no longer counts the stream; later calls do nothing. It does not close it.
func (s *connections) release(o *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(o)
}

// reason returns the reason why reading a stream failed: fault, unless this node has evicted it.
func (s *connections) reason(o *connection, fault frame.Fault) frame.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.evicted {
		return dropEvicted
	}
	return fault
}

// count returns the number of streams open now.
func (s *connections) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.Len()
}

// closeAll closes all streams and admits no more.
func (s *connections) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for e := s.open.Front(); e != nil; e = e.Next() {
		e.Value.(*connection).conn.Close()
	}
}
