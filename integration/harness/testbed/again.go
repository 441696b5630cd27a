package testbed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
)

// AnswersAgain waits for the first good answer of a node after a start and returns the time from the start to it. It
// sends a new query every 100 ms, since a query to the previous process stays unanswered. An answer with an address of
// no backend fails the test, and so does NXDOMAIN (I2).
func (s *Site) AnswersAgain(t *testing.T, n *harness.Node, started time.Time) time.Duration {
	t.Helper()
	client := &dns.Client{Timeout: 100 * time.Millisecond}
	Until(t, StartBound, n.Name+" to answer after a start", func(context.Context) error {
		r, _, err := client.Exchange(new(dns.Msg).SetQuestion(AppName+".", dns.TypeA), n.DNS.String())
		if err != nil {
			return err
		}
		if r.Rcode != dns.RcodeSuccess || len(r.Answer) == 0 {
			t.Fatalf("the answer after a restart is %v", r)
		}
		for _, rr := range r.Answer {
			if a, ok := rr.(*dns.A); !ok || !slices.ContainsFunc(s.Backends,
				func(b *harness.Backend) bool { return b.At.Addr().String() == a.A.String() }) {
				t.Fatalf("%s is an address of no backend", rr)
			}
		}
		return nil
	})
	answered := time.Now()
	InTime(t, n.Name+" to answer after a start", DNSBackBound, started, answered)
	return answered.Sub(started)
}

// Speaks waits until a program has printed a line since a time. A busy machine may delay the line.
func Speaks(t *testing.T, u *harness.Unit, since time.Time) {
	t.Helper()
	Until(t, StartBound, u.Name+" to speak", func(context.Context) error {
		if lines := u.Output(); len(lines) == 0 || lines[len(lines)-1].At.Before(since) {
			return errors.New("it has not printed a line")
		}
		return nil
	})
}
