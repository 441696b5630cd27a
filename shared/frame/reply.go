package frame

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

// Dialer opens streams to other memberlist instances. It reads, decrypts and validates a whole reply before memberlist
// receives the first octet.
type Dialer struct {
	Keyring *Keyring
	// Allowed are the message types that a reply may have.
	Allowed Kinds
	// Refused is called with the reason of each rejected reply; it may be nil.
	Refused func(Fault)
}

// Dial connects to an IP address and port by TCP. The connection closes when ctx ends. timeout bounds connecting, and
// all later operations unless the caller sets another deadline.
func (d Dialer) Dial(ctx context.Context, addr string, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(timeout)) // fails only if the connection is already closed
	return &replyConn{Conn: conn, Dialer: d, untie: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

// replyConn is a stream opened by Dialer.
type replyConn struct {
	net.Conn
	Dialer
	untie func() bool
	rest  *bytes.Reader // the unread part of the validated reply
}

// Read returns the reply unchanged, or an error for a rejected reply. It reads nothing after the reply.
func (c *replyConn) Read(b []byte) (int, error) {
	if c.rest == nil {
		wire, fault := c.reply()
		c.rest = bytes.NewReader(wire)
		if fault != None {
			if c.Refused != nil {
				c.Refused(fault)
			}
			return 0, fmt.Errorf("reply from %s refused: %s", c.RemoteAddr(), fault)
		}
	}
	return c.rest.Read(b)
}

func (c *replyConn) reply() ([]byte, Fault) {
	header, fault := c.Keyring.ReadReplyHeader(c.Conn)
	if fault != None {
		return nil, fault
	}
	wire, plain, fault := c.Keyring.ReadBody(c.Conn, header, new(bytes.Buffer))
	if fault != None {
		return nil, fault
	}
	s, fault := ParseStream(plain)
	if fault == None && !Of(s.Kind).Within(c.Allowed) {
		fault = Malformed
	}
	if fault != None {
		return nil, fault
	}
	return wire, None
}

// Close closes the connection and detaches it from the context.
func (c *replyConn) Close() error {
	c.untie()
	return c.Conn.Close()
}
