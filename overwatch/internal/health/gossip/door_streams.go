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
	headerTime = 3 * time.Second // for the header of a stream to arrive
	bodyTime   = 5 * time.Second // for its ciphertext
)

// acceptStreams accepts connections until the listener is closed.
func (d *door) acceptStreams() {
	for {
		conn, err := d.tcp.AcceptTCP()
		if err != nil {
			if stopped(err) || !d.rest() { // out of file descriptors, most likely: others get time to close theirs
				return
			}
			continue
		}
		d.readers.Go(func() { d.stream(conn) })
	}
}

// stream admits a connection, reads all of its request and passes it on. Only then does memberlist see it.
func (d *door) stream(conn *net.TCPConn) {
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	s, fault := d.slots.take(conn, from.Addr(), time.Now())
	if fault == frame.None {
		fault = d.request(s, from)
	}
	if fault != frame.None {
		d.drops.count(fault, from)
		_ = conn.Close()
		d.slots.release(s)
	}
}

// request reads the stream of an admitted connection. Unless it returns a fault, the connection has found its taker.
func (d *door) request(s *slot, from netip.AddrPort) frame.Fault {
	s.conn.SetReadDeadline(time.Now().Add(headerTime))
	header, fault := d.keyring.ReadRequestHeader(s.conn)
	if fault != frame.None {
		return d.slots.reason(s, fault)
	}
	s.conn.SetReadDeadline(time.Now().Add(bodyTime))
	room, given := d.rooms.Get().(*bytes.Buffer), false
	defer func() {
		if !given {
			d.rooms.Put(room)
		}
	}()
	wire, plain, fault := d.keyring.ReadBody(s.conn, header, room)
	if fault != frame.None {
		return d.slots.reason(s, fault)
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
		d.slots.release(s)
		d.deliver(request.User, origin{addr: from, stream: true})
		return frame.None
	}
	d.slots.complete(s)
	if request.Kind == frame.PushPull && !request.Listening {
		d.paths.greeted(request.Announced, from.Addr(), time.Now())
		d.greet(s)
		return frame.None
	}
	given = true // memberlist reads it until it closes the connection
	select {
	case d.streams <- &readConn{Conn: s.conn, rest: bytes.NewReader(wire), release: func() { d.slots.release(s) }}:
	case <-d.ctx.Done():
		s.conn.Close()
		d.slots.release(s)
	}
	return frame.None
}

// greet answers an agent's push/pull: who this node is.
func (d *door) greet(s *slot) {
	defer d.slots.release(s)
	defer s.conn.Close()
	s.conn.SetWriteDeadline(time.Now().Add(streamTime))
	// an agent that does not get it asks again
	_, _ = s.conn.Write(d.keyring.SealReply(nil, frame.AppendPushPull(nil, d.desk.hello)))
}

// readConn is a connection whose request was read already. There is nothing to read behind it.
type readConn struct {
	net.Conn
	rest    io.Reader
	release func()
}

// Read gives memberlist the request.
func (c *readConn) Read(b []byte) (int, error) { return c.rest.Read(b) }

// Close closes the connection and frees its slot.
func (c *readConn) Close() error {
	c.release()
	return c.Conn.Close()
}
