package frame

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

// Dialer opens streams to other memberlists. What comes back on one is read whole, opened and looked at before the reader,
// memberlist, gets the first octet of it.
type Dialer struct {
	Keyring *Keyring
	// Allowed are the messages that may come back.
	Allowed Kinds
	// Refused, unless nil, is told why a reply was refused.
	Refused func(Fault)
}

// Dial connects to an IP address and port by TCP. The connection is closed when ctx ends; timeout bounds the connecting, and
// everything after it unless the caller sets another deadline.
func (d Dialer) Dial(ctx context.Context, addr string, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(timeout)) // fails only if it is closed already
	return &replyConn{Conn: conn, Dialer: d, untie: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

// replyConn is a stream that we opened.
type replyConn struct {
	net.Conn
	Dialer
	untie func() bool
	rest  *bytes.Reader // the reply, once it was looked at
}

// Read returns the reply as it came, or an error if it was refused. Nothing is read behind it.
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

// Close closes the connection; the end of the context has nothing to do with it any more.
func (c *replyConn) Close() error {
	c.untie()
	return c.Conn.Close()
}
