package httpserve

import (
	"net"
	"sync"
	"time"
)

// Listener is a net.Listener with a limited number of open connections.
type Listener struct {
	net.Listener
	limit int

	mu     sync.Mutex
	place  *sync.Cond // signaled when a connection closes or starts to wait
	open   map[*conn]struct{}
	closed bool
}

// Bound limits the connections of inner. limit must be at least 1.
func Bound(inner net.Listener, limit int) *Listener {
	l := &Listener{Listener: inner, limit: limit, open: make(map[*conn]struct{}, limit)}
	l.place = sync.NewCond(&l.mu)
	return l
}

// Accept returns the next connection. At the limit, Accept closes a connection that waits for a request, or blocks
// until a request has been answered.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, listener: l, since: time.Now()}
	if !l.admit(c) {
		_ = inner.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// Close closes the listener and ends a blocked Accept. Open connections remain open.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.place.Broadcast()
	return l.Listener.Close()
}

// admit adds c to the open connections. It returns false if the listener is closed.
func (l *Listener) admit(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) >= l.limit && !l.closed {
		victim := l.longestWaiting()
		if victim == nil {
			l.place.Wait()
			continue
		}
		delete(l.open, victim)
		_ = victim.Conn.Close()
	}
	if l.closed {
		return false
	}
	l.open[c] = struct{}{}
	return true
}

func (l *Listener) longestWaiting() *conn {
	var oldest *conn
	for c := range l.open {
		if !c.busy && (oldest == nil || c.since.Before(oldest.since)) {
			oldest = c
		}
	}
	return oldest
}

// conn is a connection of a Listener. It waits for a request until beginRequest, and after endResponse.
type conn struct {
	net.Conn
	listener *Listener
	busy     bool      // guarded by listener.mu
	closed   bool      // guarded by listener.mu
	since    time.Time // start of the wait; guarded by listener.mu
}

// beginRequest records the receipt of a complete request. Until endResponse, no new connection replaces the connection.
func (c *conn) beginRequest() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.busy = true
}

// endResponse records the end of the response.
func (c *conn) endResponse() {
	c.listener.mu.Lock()
	c.busy, c.since = false, time.Now()
	c.listener.mu.Unlock()
	c.listener.place.Signal()
}

// stopCounting removes the connection from the open connections until resumeCounting.
func (c *conn) stopCounting() {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	c.listener.place.Signal()
}

// resumeCounting adds the connection again, even above the limit.
func (c *conn) resumeCounting() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if !c.closed {
		c.listener.open[c] = struct{}{}
	}
}

// Close closes the connection and frees its place.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.closed = true
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	c.listener.place.Signal()
	return c.Conn.Close()
}
