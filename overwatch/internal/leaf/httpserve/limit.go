package httpserve

import (
	"net"
	"sync"
	"time"
)

// Listener is a net.Listener with a bound on its open connections.
type Listener struct {
	net.Listener
	limit int

	mu     sync.Mutex
	room   *sync.Cond // signalled when a connection closes or begins to wait
	open   map[*conn]struct{}
	closed bool
}

// Bound bounds the connections of inner to limit, which must be at least 1.
func Bound(inner net.Listener, limit int) *Listener {
	l := &Listener{Listener: inner, limit: limit, open: make(map[*conn]struct{}, limit)}
	l.room = sync.NewCond(&l.mu)
	return l
}

// Accept returns the next connection. It makes room first, so it may close
// another connection or block until one has been answered.
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

// Close closes the listener and ends an Accept that waits for room. Open
// connections stay open.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.room.Broadcast()
	return l.Listener.Close()
}

// admit reports whether c got a place; it did not if the listener was closed.
func (l *Listener) admit(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) >= l.limit && !l.closed {
		victim := l.longestWaiting()
		if victim == nil {
			l.room.Wait()
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

// conn is one connection of a Listener. It waits for a request until begin
// and again from end.
type conn struct {
	net.Conn
	listener *Listener
	busy     bool      // guarded by listener.mu
	since    time.Time // when it began to wait; guarded by listener.mu
}

// begin says that a whole request has arrived: the connection keeps its place
// until end.
func (c *conn) begin() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.busy = true
}

// end says that the request has been answered.
func (c *conn) end() {
	c.listener.mu.Lock()
	c.busy, c.since = false, time.Now()
	c.listener.mu.Unlock()
	c.listener.room.Signal()
}

// Close closes the connection and frees its place.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	c.listener.room.Signal()
	return c.Conn.Close()
}
