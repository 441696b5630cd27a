// Package dnsask sends the DNS queries of gslbctl: for the addresses of names, over TCP (RFC 7766), and for glue to the
// servers of a parent zone. TCP also works through an SSH tunnel. Package cli calls it. It never resolves recursively:
// the result is the answer of one server.
package dnsask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Answer is a server's answer.
type Answer struct {
	Addresses []netip.Addr
	Alias     string        // target of the first CNAME record, without its final dot, or ""
	TTL       time.Duration // shortest TTL of the addresses, or else of the alias
	Failure   string        // such as SERVFAIL; empty for a success, even without addresses
}

// Conn is a connection to one server. It belongs to one goroutine.
type Conn struct {
	conn dns.Conn
}

// Dial connects to a server at host:port.
func Dial(ctx context.Context, address string) (*Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("DNS at %s: %w", address, err)
	}
	return &Conn{dns.Conn{Conn: conn}}, nil
}

// Close ends the connection.
func (c *Conn) Close() { c.conn.Close() }

// Ask queries the IPv4 or IPv6 addresses of a name and waits for the answer until ctx ends. After an error, the caller
// must not use the connection.
func (c *Conn) Ask(ctx context.Context, name string, v6 bool) (Answer, error) {
	if _, ok := dns.IsDomainName(name); !ok {
		return Answer{}, fmt.Errorf("%q cannot be queried: it is not a domain name", name)
	}
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
	if v6 {
		q.Question[0].Qtype = dns.TypeAAAA
	}
	reply, err := c.exchange(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	return answerOf(reply), nil
}

// exchange sends one non-recursive question and waits for the answer until ctx ends.
func (c *Conn) exchange(ctx context.Context, q *dns.Msg) (*dns.Msg, error) {
	q.RecursionDesired = false
	stop := context.AfterFunc(ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := c.conn.WriteMsg(q)
	var reply *dns.Msg
	if err == nil {
		reply, err = c.conn.ReadMsg()
	}
	if err == nil && (!reply.Response || reply.Id != q.Id) {
		err = errors.New("the answer belongs to another question")
	}
	if err != nil {
		return nil, fmt.Errorf("DNS at %s: %w", c.conn.RemoteAddr(), cmp.Or(ctx.Err(), err))
	}
	return reply, nil
}

// answerOf returns the addresses and the alias of a reply, or its failure.
func answerOf(reply *dns.Msg) (a Answer) {
	if reply.Rcode != dns.RcodeSuccess {
		return Answer{Failure: cmp.Or(dns.RcodeToString[reply.Rcode], fmt.Sprintf("response code %d", reply.Rcode))}
	}
	for _, rr := range reply.Answer {
		address := addressOf(rr)
		ttl := time.Duration(rr.Header().Ttl) * time.Second
		if rr, ok := rr.(*dns.CNAME); ok && a.Alias == "" {
			a.Alias, a.TTL = strings.TrimSuffix(rr.Target, "."), ttl
		}
		if !address.IsValid() {
			continue
		}
		if len(a.Addresses) == 0 || ttl < a.TTL {
			a.TTL = ttl
		}
		a.Addresses = append(a.Addresses, address)
	}
	return a
}

// addressOf returns the address of an A or AAAA record; the zero Addr for other types.
func addressOf(rr dns.RR) (address netip.Addr) {
	switch rr := rr.(type) {
	case *dns.A:
		address, _ = netip.AddrFromSlice(rr.A)
		return address.Unmap()
	case *dns.AAAA:
		address, _ = netip.AddrFromSlice(rr.AAAA)
	}
	return address
}
