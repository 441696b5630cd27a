package dnsserver

import (
	"container/list"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on TCP connections. A connection over a bound is admitted, and the one that has waited longest since its last
// answer is closed (RFC 7766 section 6.2.3). So a client that only holds connections, or sends or reads slowly, keeps
// no other client out.
const (
	maxConnections = 4096
	maxPerClient   = 128 // of one IPv4 address or IPv6 /64
)

// connections holds the open TCP connections.
type connections struct {
	limit, perClient int

	mu      sync.Mutex
	all     *list.List                  // of *connection, the longest waiting first
	clients map[netip.Prefix]*list.List // the same, by client
	closing bool

	// Connections that were closed because there were too many, of all or of one client.
	evicted, evictedClient atomic.Uint64
	// Connections that were closed because of what they did: no whole query in idleTimeout, answers not read in
	// writeTimeout, no DNS.
	idle, unread, nonsense atomic.Uint64
}

// stream is the two directions of a connection.
type stream interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// connection is an open TCP connection.
type connection struct {
	stream
	from   netip.Addr
	client netip.Prefix
	fresh  bool // nothing was answered yet; guarded by connections.mu
	// The connection's elements of both lists; nil once removed. Guarded by connections.mu.
	inAll, inClient *list.Element
}

func newConnections(limit int) *connections {
	return &connections{limit: max(limit, 1), perClient: maxPerClient, all: list.New(),
		clients: make(map[netip.Prefix]*list.List)}
}

// clientOf returns the network whose connections count as those of one client.
func clientOf(from netip.Addr) netip.Prefix {
	bits := 32
	if from.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(from, bits).Masked()
}

// admit adds a connection from an address. At a bound it closes another one.
func (c *connections) admit(conn stream, from netip.Addr) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &connection{stream: conn, from: from, client: clientOf(from), fresh: true}
	own := c.clients[one.client]
	if own == nil {
		own = list.New()
		c.clients[one.client] = own
	}
	if own.Len() >= c.perClient {
		c.evict(own, &c.evictedClient)
	}
	if c.all.Len() >= c.limit {
		c.evict(c.all, &c.evicted)
	}
	// Evicting the client's only connection has forgotten its list.
	c.clients[one.client] = own
	one.inAll, one.inClient = c.all.PushBack(one), own.PushBack(one)
	if c.closing { // it was accepted before close
		one.hurry(stopGrace)
	}
	return one
}

// evict closes the connection of the list that has waited longest.
func (c *connections) evict(from *list.List, count *atomic.Uint64) {
	victim := from.Front().Value.(*connection)
	c.remove(victim)
	_ = victim.Close()
	count.Add(1)
}

// evictOldest frees a file descriptor when the process is out of them.
func (c *connections) evictOldest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all.Len() > 0 {
		c.evict(c.all, &c.evicted)
	}
}

// answered notes that the connection has just been sent an answer.
func (c *connections) answered(one *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.fresh = false
	if one.inAll != nil {
		c.all.MoveToBack(one.inAll)
		c.clients[one.client].MoveToBack(one.inClient)
	}
}

// leave closes the connection and removes it.
func (c *connections) leave(one *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(one)
	_ = one.Close()
}

func (c *connections) remove(one *connection) {
	if one.inAll == nil {
		return
	}
	c.all.Remove(one.inAll)
	own := c.clients[one.client]
	own.Remove(one.inClient)
	if own.Len() == 0 {
		delete(c.clients, one.client)
	}
	one.inAll, one.inClient = nil, nil
}

// close ends the wait of all connections. One whose first query is under way gets freshGrace; writes get grace.
func (c *connections) close(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	for e := c.all.Front(); e != nil; e = e.Next() {
		e.Value.(*connection).hurry(grace)
	}
}

// hurry sets the last deadlines of a connection.
func (one *connection) hurry(grace time.Duration) {
	_ = one.SetWriteDeadline(time.Now().Add(grace))
	reading := time.Unix(1, 0)
	if one.fresh {
		reading = time.Now().Add(freshGrace)
	}
	_ = one.SetReadDeadline(reading)
}

// await sets the read deadline. After close, whose deadline stands, it returns false unless the connection is fresh.
func (c *connections) await(one *connection, deadline time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return one.fresh
	}
	return one.SetReadDeadline(deadline) == nil
}

// grant sets the deadline of a write. After close, whose deadline stands, it does nothing.
func (c *connections) grant(one *connection, patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = one.SetWriteDeadline(time.Now().Add(patience))
	}
}

func (c *connections) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.Len()
}
