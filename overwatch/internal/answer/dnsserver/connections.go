package dnsserver

import (
	"container/list"
	"io"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of TCP connections. A new connection that exceeds a limit is accepted, and the connection with the longest
// time since its last answer is closed (RFC 7766 section 6.2.3). Idle or slow clients therefore cannot lock out others.
const (
	maxConnections = 4096
	maxPerClient   = 128 // per IPv4 address or IPv6 /64
)

// connections holds the open TCP connections. It is safe for concurrent use.
type connections struct {
	maxOpen, maxOpenPerClient int

	mu      sync.Mutex
	all     *list.List                  // of *connection, the longest idle first
	clients map[netip.Prefix]*list.List // the same, by client network
	closing bool

	// Number of connections closed because of maxOpen and of maxOpenPerClient.
	evicted, evictedClient atomic.Uint64
	// Number of connections closed because of no complete query within idleTimeout, responses not read within
	// writeTimeout, and invalid DNS messages.
	idle, unread, nonsense atomic.Uint64
}

// stream is a bidirectional connection.
type stream interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// connection is an open TCP connection.
type connection struct {
	stream
	from      netip.AddrPort // source of the connection, or the client of the proxy
	listening netip.AddrPort // address of the listener
	// proxyDestination is the destination at the proxy; the zero value without a proxy.
	proxyDestination netip.AddrPort
	client           netip.Prefix
	unanswered       bool // no query was answered yet; guarded by connections.mu
	// The elements of the connection in both lists; nil after removal. Guarded by connections.mu.
	inAll, inClient *list.Element
}

func newConnections(limit int) *connections {
	return &connections{maxOpen: max(limit, 1), maxOpenPerClient: maxPerClient, all: list.New(),
		clients: make(map[netip.Prefix]*list.List)}
}

// clientNetwork returns the network of an address. maxPerClient applies to a network.
func clientNetwork(from netip.Addr) netip.Prefix {
	bits := 32
	if from.Is6() {
		bits = 64
	}
	return netip.PrefixFrom(from, bits).Masked()
}

// add adds a connection from an address. At a limit it closes another connection.
func (c *connections) add(conn stream, from netip.AddrPort) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &connection{stream: conn, from: from, client: clientNetwork(from.Addr()), unanswered: true}
	c.joinClient(one)
	if c.all.Len() >= c.maxOpen {
		c.evict(c.all, &c.evicted)
	}
	one.inAll = c.all.PushBack(one)
	if c.closing { // accepted before shutDown
		one.setFinalDeadlines(stopGrace)
	}
	return one
}

// joinClient adds the connection to the list of its client. At the limit of the client it closes another connection.
// The caller holds mu.
func (c *connections) joinClient(one *connection) {
	own := c.clients[one.client]
	if own == nil {
		own = list.New()
	} else if own.Len() >= c.maxOpenPerClient {
		c.evict(own, &c.evictedClient)
	}
	c.clients[one.client] = own // if evict closed the client's only connection, remove has deleted the list
	one.inClient = own.PushBack(one)
}

// leaveClient removes the connection from the list of its client. The caller holds mu.
func (c *connections) leaveClient(one *connection) {
	own := c.clients[one.client]
	own.Remove(one.inClient)
	if own.Len() == 0 {
		delete(c.clients, one.client)
	}
}

// setClient sets the client of a connection from a proxy. The connection then counts for the limit of this client.
func (c *connections) setClient(one *connection, h proxyHeader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.from, one.proxyDestination = h.client, h.destination
	if one.inAll == nil {
		return // closed
	}
	c.leaveClient(one)
	one.client = clientNetwork(one.from.Addr())
	c.joinClient(one)
}

// destination returns the local address of the connection, or the destination of the client at the proxy.
func (one *connection) destination() netip.AddrPort {
	if one.proxyDestination.IsValid() {
		return one.proxyDestination
	}
	if !one.listening.Addr().IsUnspecified() {
		return one.listening
	}
	return netip.AddrPortFrom(localAddress(one.stream), one.listening.Port())
}

// evict closes the first connection of a list, which is idle for the longest time.
func (c *connections) evict(from *list.List, count *atomic.Uint64) {
	victim := from.Front().Value.(*connection)
	c.remove(victim)
	_ = victim.Close()
	count.Add(1)
}

// evictOldest closes the longest idle connection, to free a file descriptor.
func (c *connections) evictOldest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all.Len() > 0 {
		c.evict(c.all, &c.evicted)
	}
}

// markAnswered records that an answer was sent on the connection.
func (c *connections) markAnswered(one *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.unanswered = false
	if one.inAll != nil {
		c.all.MoveToBack(one.inAll)
		c.clients[one.client].MoveToBack(one.inClient)
	}
}

// closeConnection closes and removes the connection.
func (c *connections) closeConnection(one *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(one)
	_ = one.Close()
}

// remove removes the connection from both lists. The caller holds mu.
func (c *connections) remove(one *connection) {
	if one.inAll == nil {
		return
	}
	c.all.Remove(one.inAll)
	c.leaveClient(one)
	one.inAll, one.inClient = nil, nil
}

// shutDown sets the final deadlines of all connections. Pending writes have grace; pending first queries
// firstQueryGrace.
func (c *connections) shutDown(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	for e := c.all.Front(); e != nil; e = e.Next() {
		e.Value.(*connection).setFinalDeadlines(grace)
	}
}

// setFinalDeadlines sets the deadlines of a connection for the shutdown.
func (one *connection) setFinalDeadlines(grace time.Duration) {
	_ = one.SetWriteDeadline(time.Now().Add(grace))
	reading := time.Unix(1, 0)
	if one.unanswered {
		reading = time.Now().Add(firstQueryGrace)
	}
	_ = one.SetReadDeadline(reading)
}

// setReadDeadline sets the read deadline. After shutDown it retains the final deadline, and returns false for an
// answered connection.
func (c *connections) setReadDeadline(one *connection, deadline time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return one.unanswered
	}
	return one.SetReadDeadline(deadline) == nil
}

// setWriteDeadline sets the deadline of a write. After shutDown it retains the final deadline.
func (c *connections) setWriteDeadline(one *connection, patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = one.SetWriteDeadline(time.Now().Add(patience))
	}
}

// countOpen returns the number of open connections.
func (c *connections) countOpen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all.Len()
}
