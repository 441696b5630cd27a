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
	maxStreams        = 256 // number of concurrent streams
	maxStreamsPerHost = 8   // number of concurrent streams from an IPv4 address or an IPv6 /64
	// streamGrace is the age at which an incomplete stream may be closed to admit a new stream. A request consists of a
	// single short write, so complete requests arrive earlier.
	streamGrace = 500 * time.Millisecond
)

// connections limits the number of open streams. At a limit, a new stream replaces the oldest incomplete stream, so
// that silent connections cannot block agents.
type connections struct {
	mu      sync.Mutex
	perHost map[netip.Prefix]int
	open    list.List // of *connection, oldest first
	closed  bool
}

// connection is a stream. connections.mu guards its fields except conn.
type connection struct {
	conn    net.Conn
	host    netip.Prefix
	since   time.Time
	reading bool
	evicted bool
	element *list.Element // nil once released
}

func newConnections() *connections { return &connections{perHost: make(map[netip.Prefix]int)} }

// admit adds a stream, or returns the reason for its rejection. It always returns the connection; a rejected connection
// is released.
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

// evict closes the oldest incomplete stream that matches and is older than streamGrace. It reports whether it closed a
// stream.
func (s *connections) evict(now time.Time, fits func(*connection) bool) bool {
	for e := s.open.Front(); e != nil; e = e.Next() {
		o := e.Value.(*connection)
		if now.Sub(o.since) < streamGrace {
			return false // all other streams are younger
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

// complete records that the request of a stream is complete, so that the stream is not evicted.
func (s *connections) complete(o *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.reading = false
}

// release removes a stream from the limits. It does not close the stream. Further calls have no effect.
func (s *connections) release(o *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(o)
}

// reason returns the reason of a failed read: fault, or dropEvicted if this node closed the stream.
func (s *connections) reason(o *connection, fault frame.Fault) frame.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.evicted {
		return dropEvicted
	}
	return fault
}

// count returns the number of open streams.
func (s *connections) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open.Len()
}

// closeAll closes all streams and rejects new streams.
func (s *connections) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for e := s.open.Front(); e != nil; e = e.Next() {
		e.Value.(*connection).conn.Close()
	}
}
