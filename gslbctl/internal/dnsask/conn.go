package dnsask

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// Conn is a connection to one server. It belongs to one goroutine.
type Conn struct {
	conn net.Conn
}

// Dial connects to a server at host:port.
func Dial(ctx context.Context, address string) (*Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("DNS at %s: %w", address, err)
	}
	return &Conn{conn}, nil
}

// Close ends the connection.
func (c *Conn) Close() { c.conn.Close() }

// Ask queries the IPv4 or IPv6 addresses of a name and waits for the answer until ctx ends. After
// an error the connection must not be used.
func (c *Conn) Ask(ctx context.Context, name string, v6 bool) (Answer, error) {
	q := question{id: uint16(rand.Uint32()), name: name, v6: v6}
	query, err := q.message()
	if err != nil {
		return Answer{}, err
	}
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := c.conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)); err != nil {
		return Answer{}, c.failure(ctx, err)
	}
	var length [2]byte
	if _, err := io.ReadFull(c.conn, length[:]); err != nil {
		return Answer{}, c.failure(ctx, err)
	}
	reply := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c.conn, reply); err != nil {
		return Answer{}, c.failure(ctx, err)
	}
	answer, err := q.answer(reply)
	if err != nil {
		return Answer{}, c.failure(ctx, err)
	}
	return answer, nil
}

func (c *Conn) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("DNS at %s: %w", c.conn.RemoteAddr(), err)
}
