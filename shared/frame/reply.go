package frame

import (
	"bytes"
	"fmt"
	"net"
)

// ReplyConn is a stream that we opened. What comes back is read whole, opened and looked at before the reader, memberlist,
// gets the first octet of it. Deadlines are the reader's to set.
type ReplyConn struct {
	net.Conn
	Keyring *Keyring
	// Allowed are the messages that may come back.
	Allowed Kinds
	// Refused, unless nil, is told why a reply was refused.
	Refused func(Fault)

	rest *bytes.Reader
}

// Read returns the reply as it came, or an error if it was refused. Nothing is read behind it.
func (c *ReplyConn) Read(b []byte) (int, error) {
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

func (c *ReplyConn) reply() ([]byte, Fault) {
	header, fault := c.Keyring.ReadReplyHeader(c.Conn)
	if fault != None {
		return nil, fault
	}
	wire, plain, fault := c.Keyring.ReadBody(c.Conn, header)
	if fault != None {
		return nil, fault
	}
	s, fault := ParseStream(plain)
	if fault == None && !Of(s.Kind).Within(c.Allowed) {
		fault = Malformed
	}
	return wire, fault
}
