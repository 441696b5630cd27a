package harness

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// AnswerBound is the time after which a query without an answer has failed (invariant I1). A Watch may have a longer
// time limit.
const AnswerBound = time.Second

// Answer is the outcome of a query at the client.
type Answer struct {
	At    time.Time // time of the answer or of the timeout
	Took  time.Duration
	Addrs []netip.Addr
	Rcode int
	Err   error // no answer; Rcode is then invalid
}

// Asked returns the time at which the query was sent.
func (a Answer) Asked() time.Time { return a.At.Add(-a.Took) }

// Has reports whether the answer contains the address.
func (a Answer) Has(addr netip.Addr) bool { return slices.Contains(a.Addrs, addr) }

// Good reports whether the answer is a success with at least one address.
func (a Answer) Good() bool {
	return a.Err == nil && a.Rcode == dns.RcodeSuccess && len(a.Addrs) > 0
}

// ask queries the A records of a name with exchange, and decodes the answer.
func ask(exchange func(*dns.Msg) (*dns.Msg, error), name string) Answer {
	q := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.TypeA)
	begin := time.Now()
	r, err := exchange(q)
	a := Answer{At: time.Now(), Took: time.Since(begin)}
	if err != nil {
		a.Err = fmt.Errorf("asking for %s: %w", name, err)
		return a
	}
	a.Rcode = r.Rcode
	for _, rr := range r.Answer {
		if rec, ok := rr.(*dns.A); ok {
			if addr, ok := netip.AddrFromSlice(rec.A.To4()); ok {
				a.Addrs = append(a.Addrs, addr)
			}
		}
	}
	return a
}
