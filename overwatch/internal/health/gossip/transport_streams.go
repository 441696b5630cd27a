package gossip

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"time"

	"gslb.internal/shared/frame"
)

const (
	headerTime = 3 * time.Second // timeout of the header of a stream
	bodyTime   = 5 * time.Second // for its ciphertext
)

// acceptStreams accepts connections until the listener is closed.
func (d *transport) acceptStreams() {
	for {
		conn, err := d.tcp.AcceptTCP()
		if err != nil {
			if stopped(err) ||
				!d.pauseAfterError() { // probably out of file descriptors: wait until other goroutines close theirs
				return
			}
			continue
		}
		d.readers.Go(func() { d.stream(conn) })
	}
}

// stream admits a connection, reads its complete request and passes it to memberlist.
func (d *transport) stream(conn *net.TCPConn) {
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	s, fault := d.connections.admit(conn, from.Addr(), time.Now())
	if fault == frame.None {
		fault = d.request(s, from)
	}
	if fault != frame.None {
		d.drops.count(fault, from)
		_ = conn.Close()
		d.connections.release(s)
	}
}

// request reads the request of an admitted connection and delivers it, or returns the reason for dropping it. Without
// an error, the connection is closed or has another owner.
func (d *transport) request(s *connection, from netip.AddrPort) frame.Fault {
	s.conn.SetReadDeadline(time.Now().Add(headerTime))
	header, fault := d.keyring.ReadRequestHeader(s.conn)
	if fault != frame.None {
		return d.connections.reason(s, fault)
	}
	s.conn.SetReadDeadline(time.Now().Add(bodyTime))
	buffer, given := d.buffers.Get().(*bytes.Buffer), false
	defer func() {
		if !given {
			d.buffers.Put(buffer)
		}
	}()
	wire, plain, fault := d.keyring.ReadBody(s.conn, header, buffer)
	if fault != frame.None {
		return d.connections.reason(s, fault)
	}
	request, fault := frame.ParseStream(plain)
	if fault != frame.None {
		return fault
	}
	if !frame.Of(request.Kind).Within(streamKinds) {
		return dropKind
	}
	if request.Kind == frame.User {
		s.conn.Close()
		d.connections.release(s)
		d.deliver(request.User, origin{addr: from, stream: true})
		return frame.None
	}
	d.connections.complete(s)
	if request.Kind == frame.PushPull && !request.Listening {
		d.paths.recordGreeting(request.Announced, from.Addr(), time.Now())
		d.greetings.add(request.Announced, from.Addr().Unmap(), time.Now())
		d.greet(s)
		return frame.None
	}
	given = true // memberlist reads the connection until it closes it
	select {
	case d.streams <- &readConn{Conn: s.conn, rest: bytes.NewReader(wire), release: func() { d.connections.release(s) }}:
	case <-d.ctx.Done():
		s.conn.Close()
		d.connections.release(s)
	}
	return frame.None
}

// greet answers an agent's push/pull with this node's Hello.
func (d *transport) greet(s *connection) {
	defer d.connections.release(s)
	defer s.conn.Close()
	s.conn.SetWriteDeadline(time.Now().Add(streamTime))
	// an agent without an answer retries
	_, _ = s.conn.Write(d.keyring.SealReply(nil, frame.AppendPushPull(nil, d.self.hello)))
}

// readConn is a connection with a fully read request. Reading it returns the request and then io.EOF.
type readConn struct {
	net.Conn
	rest    io.Reader
	release func()
}

// Read passes the request to memberlist.
func (c *readConn) Read(b []byte) (int, error) { return c.rest.Read(b) }

// Close closes the connection and no longer counts it.
func (c *readConn) Close() error {
	c.release()
	return c.Conn.Close()
}
