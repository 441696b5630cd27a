package dnsserver // inside: tests that look inside share its views

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// testZone contains the records of the zone that all tests of this package serve, as lines of a zone file. The zone
// also contains the names of steeredNames.
const testZone = `
@ 3600 SOA ns1 hostmaster 1 3600 600 604800 30
@ 3600 NS ns1
@ 3600 NS ns2
@ 300 TXT "v=spf1 -all"
@ 300 MX 10 mail
ns1 3600 A 192.0.2.1
ns2 3600 A 192.0.2.2
mail 300 A 192.0.2.3
www 300 CNAME app
out 300 CNAME elsewhere.example.
*.wild 300 A 192.0.2.4
`

// steeredNames contains the load-balanced names of the conformance tests, and a name without serving backends.
var steeredNames = map[string]string{
	"app":     "10.0.0.1 10.0.0.2 10.0.0.3",
	"v6":      "2001:db8::1",
	"dual":    "10.0.0.4 2001:db8::2",
	"a.b.ent": "10.0.0.5",
	"big":     hundred(),
	"one":     "10.0.0.6",
	"down":    "",
}

func hundred() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "10.1.0.%d ", i+1)
	}
	return b.String()
}

func testView(t testing.TB) *zone.View { return viewOf(t, zone.Contents{}) }

// signedView returns the same zone, signed.
func signedView(t testing.TB, denial zone.Denial) *zone.View {
	t.Helper()
	zones, err := dnssec.Open(dnssec.Options{Dir: t.TempDir(), Registerer: prometheus.NewRegistry(),
		Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := zones.Signer("gslb.test.")
	if err != nil {
		t.Fatal(err)
	}
	v := viewOf(t, zone.Contents{Signer: signer, Denial: denial, Records: signer.Records()})
	for sig := range v.Signatures() {
		if _, err := sig.Prepare(zones.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func viewOf(t testing.TB, c zone.Contents) *zone.View {
	t.Helper()
	const apex = "gslb.test."
	c.Apex = apex
	parser := dns.NewZoneParser(strings.NewReader(testZone), apex, "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		if soa, isSOA := rr.(*dns.SOA); isSOA {
			c.SOA = soa
		} else {
			c.Records = append(c.Records, rr)
		}
	}
	if parser.Err() != nil {
		t.Fatal(parser.Err())
	}
	for name := range steeredNames {
		c.Balanced = append(c.Balanced, name+"."+apex)
	}
	slices.Sort(c.Balanced)
	v, err := zone.New([]*zone.Contents{&c}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := zone.NewWriter()
	for name, words := range steeredNames {
		d := [2]policy.Decision{{Outcome: policy.NoData}, {Outcome: policy.NoData}}
		if words == "" {
			d = [2]policy.Decision{{Outcome: policy.NoHealthyBackend}, {Outcome: policy.NoHealthyBackend}}
		}
		for _, word := range strings.Fields(words) {
			due := policy.Member{Address: netip.MustParseAddr(word), Parts: 1}
			f := policy.IPv4
			if due.Address.Is6() {
				f = policy.IPv6
			}
			d[f] = policy.Decision{Outcome: policy.Success, TTL: 60, Members: append(d[f].Members, due)}
		}
		answers := 100
		if name == "one" {
			answers = 1
		}
		if _, err := w.SetAnswers(v, name+"."+apex, d, answers); err != nil {
			t.Fatal(err)
		}
	}
	return v
}
