package publish // inside: it shares https_test.go

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// told returns an explanation in one line: the decision, the backend with the first address, the other backends with
// their shares, and the excluded backends.
func told(t *testing.T, p *Publisher, name string, rtype uint16) (line string, e explain.Explanation) {
	t.Helper()
	e, err := explain.Explain(p.View(), explain.Query{Name: name, Type: rtype, Client: netip.MustParseAddr("192.0.2.1")})
	if err != nil {
		t.Fatal(err)
	}
	line = string(e.Outcome)
	selected := e.Selected()
	if selected != nil {
		line += " " + selected.Address.String()
	}
	for i := range e.Backends {
		switch b := &e.Backends[i]; {
		case b.Excluded != "":
			line += fmt.Sprintf("; not %s", b.Address)
		case b != selected:
			line += fmt.Sprintf("; %s %.2f", b.Address, b.Share)
		}
	}
	return line, e
}

// sent returns the records of a DNS answer in the format of dig.
func sent(p *Publisher, name string, rtype uint16) (records []string) {
	r := p.View().Resolve(name, rtype, false, netip.MustParseAddr("192.0.2.1"), zone.NewRotations(1, 1))
	for _, rr := range r.Answer {
		records = append(records, strings.ReplaceAll(rr.String(), "\t", " "))
	}
	return records
}

func TestHTTPS_IsExplained(t *testing.T) {
	p, b, s := steeredHTTPS(t, "weighted", config.HTTPS{ALPN: []string{"h2"}, Port: 8443}, "10.0.0.1", "10.0.0.2 down",
		"2001:db8::1")
	expect := func(want string, family policy.Family) {
		t.Helper()
		got, e := told(t, p, steered, dns.TypeHTTPS)
		if got != want || e.Family != family {
			t.Errorf("%q of family %v, want %q of %v", got, e.Family, want, family)
		}
		if records := sent(p, steered, dns.TypeHTTPS); !slices.Equal(e.Records, records) {
			t.Errorf("explained %q, answered %q", e.Records, records)
		}
		if len(e.Records) > 0 && (e.TTL != 10 || !strings.Contains(e.Records[0], `10 IN HTTPS 1 . alpn="h2" port="8443"`)) {
			t.Errorf("%q for %d s", e.Records, e.TTL)
		}
	}
	serve := func(list ...string) {
		b.set("a.gslb.test", list...)
		p.Mark("a.gslb.test")
		p.Flush(t.Context())
	}
	expect("success 10.0.0.1; not 10.0.0.2; not 2001:db8::1", policy.IPv4)
	serve("2001:db8::1", "2001:db8::2 down")
	expect("success 2001:db8::1; not 2001:db8::2", policy.IPv6)
	serve("10.0.0.1 down")
	expect("no_healthy_backend; not 10.0.0.1", policy.IPv4)
	s.Domains = []config.Domain{s.Domains[0]}
	s.Domains[0].HTTPS = config.HTTPS{}
	if err := p.Reconfigure(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	expect("not_steered", policy.IPv4)
}

// The first of two hint addresses is the selected backend, with the frequency of its share.
func TestHTTPS_TheFirstHintIsTheSelectedBackend(t *testing.T) {
	p, _, s := steeredHTTPS(t, "weighted", config.HTTPS{ALPN: []string{"h2"}}, "10.0.0.1", "10.0.0.2", "10.0.0.3")
	s.Domains = []config.Domain{s.Domains[0]}
	s.Domains[0].MaxAnswers = 2
	if err := p.Reconfigure(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 30 {
		_, e := told(t, p, steered, dns.TypeHTTPS)
		if len(e.Records) != 2 || len(e.Addresses) != 2 ||
			!strings.HasSuffix(e.Records[0], `ipv4hint="`+e.Selected().Address.String()+`"`) {
			t.Fatalf("%v is selected of %q", e.Selected(), e.Records)
		}
		seen[e.Selected().Address.String()] = true
	}
	if len(seen) != 3 {
		t.Errorf("selected were %v", seen)
	}
}

// The explanation of SRV records is the decision for the addresses of their target.
func TestSRV_IsExplained(t *testing.T) {
	p, b, s := steeredHTTPS(t, "weighted", config.HTTPS{}, "10.0.0.1:5060", "10.0.0.2:5070", "10.0.0.3:5060 down")
	s.Domains = []config.Domain{s.Domains[0]}
	s.Domains[0].SRV = []string{"_sip._tcp"}
	if err := p.Reconfigure(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	const sip = "_sip._tcp.a.gslb.test."
	expect := func(name, want string) {
		t.Helper()
		got, e := told(t, p, name, dns.TypeSRV)
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		slices.Sort(e.Records)
		records := sent(p, name, dns.TypeSRV)
		if slices.Sort(records); !slices.Equal(e.Records, records) {
			t.Errorf("explained %q, answered %q", e.Records, records)
		}
		if len(e.Records) > 0 && e.TTL != 10 {
			t.Errorf("for %d s", e.TTL)
		}
	}
	serve := func(list ...string) {
		b.set("a.gslb.test", list...)
		p.Mark("a.gslb.test")
		p.Flush(t.Context())
	}
	expect(sip, "success; 10.0.0.1 0.50; 10.0.0.2 0.50; not 10.0.0.3")
	expect("_xmpp._tcp.a.gslb.test.", "domain_not_found")
	expect(steered, "not_steered")
	serve("[2001:db8::1]:5080", "[2001:db8::2]:5080 down")
	expect(sip, "success; 2001:db8::1 1.00; not 2001:db8::2")
	serve("10.0.0.1:5060 down")
	expect(sip, "no_healthy_backend; not 10.0.0.1")
}
