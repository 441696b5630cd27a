package signed

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// Asked queries a node over TCP, with retries for testbed.Patience, and returns the answer. It is for tests of the
// content of answers. Tests of response times use UDP.
func Asked(q *dns.Msg, n *harness.Node) (r *dns.Msg, err error) {
	const bound = 2 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	err = harness.Until(ctx, "an answer", func(context.Context) (err error) {
		r, err = exchangeAt(q, n, bound)
		return err
	})
	return r, err
}

// exchangeAt sends a query to a node over TCP, from the node's own machine.
func exchangeAt(q *dns.Msg, n *harness.Node, bound time.Duration) (*dns.Msg, error) {
	var conn net.Conn
	if err := OnMachineOf(n, func() (err error) {
		conn, err = net.DialTimeout("tcp", n.DNS.String(), bound)
		return err
	}); err != nil {
		return nil, err
	}
	defer conn.Close()
	r, _, err := (&dns.Client{Net: "tcp", Timeout: bound}).ExchangeWithConn(q, &dns.Conn{Conn: conn})
	return r, err
}

// KeysOf returns the DNSKEY records of a zone from a node's answer, at least one.
func KeysOf(t *testing.T, n *harness.Node, zone string) (keys []*dns.DNSKEY) {
	t.Helper()
	r, err := exchangeAt(new(dns.Msg).SetQuestion(zone+".", dns.TypeDNSKEY), n, testbed.Patience)
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range r.Answer {
		if key, ok := rr.(*dns.DNSKEY); ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		t.Fatalf("%s shows no key:\n%s", n.Name, r)
	}
	return keys
}

// OnMachineOf calls f in the network namespace of a node, if it has one.
func OnMachineOf(n *harness.Node, f func() error) error {
	if n.Inside == nil {
		return f()
	}
	return n.Inside(f)
}
