package dns_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// This test sends the queries of a resolver over both transports, and checks the answers. The tests of package
// dnsserver cover the details; this test covers the shipped program.
func TestDNS_NodeAnswersAsAnAuthority(t *testing.T) {
	s := startSite(t, 1, 2)
	cases := []struct {
		promise string
		name    string
		qtype   uint16
		rcode   int
		answer  string // "type count"; empty: none
		soa     bool   // in the authority section
	}{
		{"a steered name has one of its addresses", testbed.AppName, dns.TypeA, dns.RcodeSuccess, "A 1", false},
		{"names have no case", "APP.Test.gSLB.test", dns.TypeA, dns.RcodeSuccess, "A 1", false},
		{"no IPv6 backend is NODATA", testbed.AppName, dns.TypeAAAA, dns.RcodeSuccess, "", true},
		{"an unknown name is NXDOMAIN", "nothing.test.gslb.test", dns.TypeA, dns.RcodeNameError, "", true},
		{"the apex has a SOA", "test.gslb.test", dns.TypeSOA, dns.RcodeSuccess, "SOA 1", false},
		{"the apex has name servers", "test.gslb.test", dns.TypeNS, dns.RcodeSuccess, "NS 1", false},
		{"a name of nobody here is refused", "example.com", dns.TypeA, dns.RcodeRefused, "", false},
	}
	for _, c := range cases {
		for _, network := range []string{"udp", "tcp"} {
			t.Run(c.promise+" over "+network, func(t *testing.T) {
				r := testbed.Exchange(t, network, s.Nodes[0], c.name, c.qtype)
				if r.Rcode != c.rcode {
					t.Errorf("answered %s, want %s", dns.RcodeToString[r.Rcode], dns.RcodeToString[c.rcode])
				}
				if got := sections(r.Answer); got != c.answer {
					t.Errorf("answer section %q, want %q", got, c.answer)
				}
				if got := strings.HasPrefix(sections(r.Ns), "SOA"); got != c.soa {
					t.Errorf("SOA in the authority section: %t, want %t", got, c.soa)
				}
				if want := r.Rcode != dns.RcodeRefused; r.Authoritative != want {
					t.Errorf("authoritative: %t, want %t", r.Authoritative, want)
				}
				if r.Question[0].Name != c.name+"." {
					t.Errorf("the question came back as %q", r.Question[0].Name)
				}
			})
		}
	}
}

// Weights are exact at any time: after any number of answers, each backend differs from its expected number of answers
// by at most one, and between any two times by at most two.
func TestDNS_WeightsAreExact(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 3)
	tenths := []int{5, 3, 2}
	for i, a := range s.Agents {
		a.File.Agent.Backends[0].Weight = 100 * tenths[i]
	}
	n := s.Nodes[0]
	n.File.Domains[0].RoutingAlgorithm = "weighted"
	s.StartAll(t)
	s.Holds(t, "the weights", func() error {
		from := time.Now()
		var tally harness.Tally
		testbed.Until(t, 10*time.Second, "some answers", func(context.Context) error {
			if tally = s.Watch.Tally(n, testbed.AppName, from); tally.Asked < 200 {
				return fmt.Errorf("%d so far", tally.Asked)
			}
			return nil
		})
		for i, b := range s.Backends {
			due, got := tally.Asked*tenths[i]/10, tally.Got[b.At.Addr()]
			if got < due-2 || got > due+2 {
				return fmt.Errorf("%s was answered %d times of %d, due are %d", b.At.Addr(), got, tally.Asked, due)
			}
		}
		return nil
	})
}

// sections returns the types of records as text, such as "A 2".
func sections(records []dns.RR) string {
	if len(records) == 0 {
		return ""
	}
	return dns.TypeToString[records[0].Header().Rrtype] + " " + string(rune('0'+len(records)))
}
