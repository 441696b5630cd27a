package harness

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/miekg/dns"
)

// lostAfter is the time limit for an answer after a later query was answered.
const lostAfter = 3 * time.Second

// client queries a server over UDP.
type client struct {
	server   string
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	patience time.Duration // see Watch.Patience
	conn     *dns.Conn     // nil: none yet
}

// exchange sends a query and returns its answer. After AnswerBound without an answer, it also sends the query from
// other sockets, until the time c.patience has passed. If another socket receives an answer, the first answer is lost
// unless it arrives within lostAfter. If no socket receives an answer, the first answer is only late.
func (c *client) exchange(ctx context.Context, m *dns.Msg) (*dns.Msg, error) {
	if c.conn == nil {
		conn, err := c.open(ctx)
		if err != nil {
			return nil, err
		}
		c.conn = conn
	}
	begin := time.Now()
	r, err := c.ask(ctx, c.conn, m)
	if err == nil {
		return r, nil
	}
	first := c.conn
	c.conn = nil // a late answer must not match the next query
	defer first.Close()
	for errors.Is(err, os.ErrDeadlineExceeded) && time.Since(begin) < c.patience && ctx.Err() == nil {
		later := c.askAnew(ctx, m)
		wait := lostAfter
		if errors.Is(later, os.ErrDeadlineExceeded) {
			wait = time.Millisecond
		} else if later != nil {
			return nil, later // the server no longer runs
		}
		if r, lost := await(first, m.Id, wait); lost == nil || later == nil {
			return r, lost
		}
	}
	return nil, err
}

func (c *client) open(ctx context.Context) (*dns.Conn, error) {
	to, err := c.dial(ctx, "udp", c.server)
	if err != nil {
		return nil, err
	}
	return &dns.Conn{Conn: to}, nil
}

func (c *client) ask(ctx context.Context, conn *dns.Conn, m *dns.Msg) (*dns.Msg, error) {
	r, _, err := (&dns.Client{Net: "udp", Timeout: AnswerBound}).ExchangeWithConnContext(ctx, m, conn)
	return r, err
}

// askAnew sends the query from a separate socket. It returns an error if no answer arrives.
func (c *client) askAnew(ctx context.Context, m *dns.Msg) error {
	conn, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	again := m.Copy()
	again.Id = dns.Id()
	_, err = c.ask(ctx, conn, again)
	return err
}

// await reads from conn until the answer with an id arrives, at most for wait.
func await(conn *dns.Conn, id uint16, wait time.Duration) (*dns.Msg, error) {
	if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, err
	}
	for {
		r, err := conn.ReadMsg()
		if err != nil || r.Id == id {
			return r, err
		}
	}
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close() // a UDP socket has no unsent data
	}
}
