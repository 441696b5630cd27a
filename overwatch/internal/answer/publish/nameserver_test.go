package publish // inside: it uses newPlan and reachable

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/state/config"
)

// parsed returns the addresses in a text with spaces between them.
func parsed(text string) (list []netip.Addr) {
	for word := range strings.FieldsSeq(text) {
		list = append(list, netip.MustParseAddr(word))
	}
	return list
}

func TestPlan_AZoneMayHaveTTLsOfItsOwn(t *testing.T) {
	s := zoneWith(config.Zone{})
	s.DNS.ApexTTL, s.DNS.NegativeTTL = 3600, new(60)
	for _, c := range []struct {
		apex, negative       *int
		wantApex, wantMinTTL uint32
	}{{nil, nil, 3600, 60}, {new(900), nil, 900, 60}, {nil, new(0), 3600, 0}, {new(7200), new(30), 7200, 30}} {
		s.DNS.Zones[0].ApexTTL, s.DNS.Zones[0].NegativeTTL = c.apex, c.negative
		p := newPlan(s, nil, nil, false)
		z := p.byApex["gslb.test."]
		if z.SOA.Hdr.Ttl != c.wantApex || z.SOA.Minttl != c.wantMinTTL || p.longestTTL() != max(3600, c.wantApex) {
			t.Errorf("SOA is %v, want the TTLs %d and %d; the longest TTL is %d", z.SOA, c.wantApex, c.wantMinTTL, p.longestTTL())
		}
		for _, rr := range z.Records {
			if rr.Header().Rrtype == dns.TypeNS && rr.Header().Ttl != c.wantApex {
				t.Errorf("%v, want the TTL %d", rr, c.wantApex)
			}
		}
	}
	a, b := config.Zone{ApexTTL: new(1)}, config.Zone{ApexTTL: new(2)}
	if sameZone(&a, &b) || !sameZone(&a, &config.Zone{ApexTTL: new(1)}) || sameZone(&a, &config.Zone{}) {
		t.Error("sameZone does not compare TTLs")
	}
}

func TestPlan_OwnNameserverHasExplicitAddressesAlone(t *testing.T) {
	for name, c := range map[string]struct {
		zone    config.Zone
		own     string // addresses of the node
		want    string // addresses of node.gslb.test
		caution bool
	}{
		"no record":         {config.Zone{}, "203.0.113.10 2001:db8::10", "203.0.113.10 2001:db8::10", false},
		"no public address": {config.Zone{}, "10.0.0.5", "10.0.0.5", true},
		"an A record": {config.Zone{Records: []string{"node A 203.0.113.1"}}, "10.0.0.5 2001:db8::10",
			"203.0.113.1", false},
		"an AAAA record": {config.Zone{Records: []string{"NODE.gslb.test. AAAA 2001:db8::1"}}, "203.0.113.10",
			"2001:db8::1", false},
		"listed, an A record": {config.Zone{Nameservers: []string{"node.gslb.test", "ns2.example.com"},
			Records: []string{"node A 203.0.113.1"}}, "10.0.0.5 2001:db8::10", "203.0.113.1", false},
		"only text": {config.Zone{Records: []string{"node TXT here"}}, "203.0.113.10", "203.0.113.10", false},
		"a wildcard": {config.Zone{Records: []string{"* A 203.0.113.1"}}, "203.0.113.10", "203.0.113.10",
			false},
		"not a name server": {config.Zone{Nameservers: []string{"ns2.example.com"}}, "10.0.0.5", "", false},
	} {
		s := zoneWith(c.zone)
		s.Addresses = parsed(c.own)
		p := newPlan(s, nil, nil, false)
		var got []netip.Addr
		for _, rr := range p.byApex["gslb.test."].Records {
			if dns.CanonicalName(rr.Header().Name) != "node.gslb.test." {
				continue
			}
			switch rr := rr.(type) {
			case *dns.A:
				got = append(got, netip.MustParseAddr(rr.A.String()))
			case *dns.AAAA:
				got = append(got, netip.MustParseAddr(rr.AAAA.String()))
			}
		}
		if !slices.Equal(got, parsed(c.want)) || len(p.problems) > 0 {
			t.Errorf("%s: answers %v, want %s; problems %v", name, got, c.want, p.problems)
		}
		cautions := strings.Join(p.cautions, "\n")
		if strings.Contains(cautions, "no public address") != c.caution ||
			c.caution && !strings.Contains(cautions, c.own) {
			t.Errorf("%s: cautions %q", name, p.cautions)
		}
	}
}

func TestCheck_OwnNameserverIsNoAlias(t *testing.T) {
	problems := Check(zoneWith(config.Zone{Records: []string{"node CNAME ns.example.com."}}))
	if len(problems) != 1 || !strings.Contains(problems[0].Message, "must not be an alias") {
		t.Errorf("%v", problems)
	}
}

func TestNodeAddresses_PrivateOnlyWithoutPublic(t *testing.T) {
	for _, c := range []struct{ listening, own, want string }{
		{"0.0.0.0 ::", "127.0.0.1 10.0.0.5 203.0.113.10 fd00::5 2001:db8::5", "203.0.113.10 2001:db8::5"},
		{"0.0.0.0 ::", "127.0.0.1 203.0.113.10 172.17.0.1 fd00::5 fe80::1", "203.0.113.10"},
		{"0.0.0.0 ::", "127.0.0.1 10.0.0.5 100.64.0.7 fd00::5 fe80::1", "10.0.0.5 100.64.0.7 fd00::5"},
		{"0.0.0.0", "127.0.0.1 10.0.0.5 2001:db8::5", "10.0.0.5"},
		{"10.0.0.5 203.0.113.10", "", "203.0.113.10"},
		{"10.0.0.5 127.0.0.1", "", "10.0.0.5"},
		{"0.0.0.0 ::", "127.0.0.1 ::1 fe80::1", "127.0.0.1 ::1"},
	} {
		var listening []netip.AddrPort
		for _, a := range parsed(c.listening) {
			listening = append(listening, netip.AddrPortFrom(a, 53))
		}
		if got := reachable(listening, parsed(c.own)); fmt.Sprint(got) != fmt.Sprint(parsed(c.want)) {
			t.Errorf("listening on %s with %s: %v, want %s", c.listening, c.own, got, c.want)
		}
	}
}
