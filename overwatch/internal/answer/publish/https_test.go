package publish // inside: it shares publisher_test.go

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
)

const steered = "a.gslb.test."

// asks returns the data of the records in an answer to a client, and the kind of the answer.
func asks(p *Publisher, name string, rtype uint16, client string, turns *zone.Rotations) (
	data []string, kind zone.Kind,
) {
	r := p.View().Resolve(name, rtype, false, netip.MustParseAddr(client), turns)
	for _, rr := range r.Answer {
		data = append(data, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(data)
	return data, r.Kind
}

func steeredHTTPS(t *testing.T, algorithm string, h config.HTTPS, list ...string) (*Publisher, *backends, Settings) {
	t.Helper()
	s, b := testSettings(), new(backends)
	s.Domains = []config.Domain{{Name: "a.gslb.test", RoutingAlgorithm: algorithm, TTL: 10, HTTPS: h,
		ClientHash: config.ClientHash{IPv4Prefix: 24, IPv6Prefix: 56}}}
	b.set("a.gslb.test", list...)
	p := newPublisher(t, b, s)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go p.Run(ctx)
	return p, b, s
}

func TestHTTPS_FollowsSettingsAndHealth(t *testing.T) {
	p, b, s := steeredHTTPS(t, "weighted", config.HTTPS{}, "10.0.0.1", "10.0.0.2", "2001:db8::1")
	turns := zone.NewRotations(1, 1)
	expect := func(when, want string) {
		t.Helper()
		if got, kind := asks(p, steered, dns.TypeHTTPS, "192.0.2.1", turns); strings.Join(got, "; ") != want {
			t.Errorf("%s: %v %q, want %q", when, kind, got, want)
		}
	}
	set := func(h config.HTTPS, answers int) {
		s.Domains = []config.Domain{s.Domains[0]}
		s.Domains[0].HTTPS, s.Domains[0].MaxAnswers = h, answers
		if err := p.Reconfigure(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(list ...string) {
		b.set("a.gslb.test", list...)
		p.Mark("a.gslb.test")
		p.Flush(t.Context())
	}
	expect("without https", "")
	set(config.HTTPS{ALPN: []string{"h2", "h3"}}, 2)
	expect("both", `1 . alpn="h2,h3" ipv4hint="10.0.0.1" ipv6hint="2001:db8::1"; `+
		`1 . alpn="h2,h3" ipv4hint="10.0.0.2" ipv6hint="2001:db8::1"`)
	serve("10.0.0.1 down", "10.0.0.2", "2001:db8::1")
	expect("one down", `1 . alpn="h2,h3" ipv4hint="10.0.0.2" ipv6hint="2001:db8::1"`)
	serve("10.0.0.1 down", "10.0.0.2", "2001:db8::1 down")
	expect("IPv6 down too", `1 . alpn="h2,h3" ipv4hint="10.0.0.2"`)
	serve("10.0.0.1 down", "10.0.0.2", "2001:db8::1")
	set(config.HTTPS{ALPN: []string{"h2"}, Port: 8443, ECH: "AAMBAgM="}, 1)
	expect("port and ech", `1 . alpn="h2" port="8443" ipv4hint="10.0.0.2" ech="AAMBAgM=" ipv6hint="2001:db8::1"`)
	serve("2001:db8::1")
	expect("IPv6 alone", `1 . alpn="h2" port="8443" ech="AAMBAgM=" ipv6hint="2001:db8::1"`)
	serve()
	expect("nobody", "")
	serve("10.0.0.1 down")
	if _, kind := asks(p, steered, dns.TypeHTTPS, "192.0.2.1", turns); kind != zone.Failed {
		t.Errorf("all down: %v, want SERVFAIL", kind)
	}
	serve("10.0.0.1")
	set(config.HTTPS{}, 1)
	expect("https taken away", "")
}

// With client-hash, a client network has the same backend for each record type.
func TestHTTPS_HintIsTheAddressOfAWhereThePolicyIsFixed(t *testing.T) {
	h := config.HTTPS{ALPN: []string{"h2"}}
	p, _, _ := steeredHTTPS(t, "client-hash", h, "10.0.0.1", "10.0.0.2", "10.0.0.3")
	turns, seen := zone.NewRotations(1, 1), map[string]bool{}
	for _, client := range []string{"192.0.2.1", "198.51.100.1", "203.0.113.1", "9.9.9.9", "8.8.8.8", "1.1.1.1"} {
		a, _ := asks(p, steered, dns.TypeA, client, turns)
		hint, _ := asks(p, steered, dns.TypeHTTPS, client, turns)
		if len(a) != 1 || len(hint) != 1 || hint[0] != `1 . alpn="h2" ipv4hint="`+a[0]+`"` {
			t.Errorf("%s: A %q, HTTPS %q", client, a, hint)
		}
		seen[a[0]] = true
	}
	if len(seen) < 2 {
		t.Errorf("all clients have the same backend %v: the test shows nothing", seen)
	}
}

func TestHTTPS_HintsHaveTheSharesOfA(t *testing.T) {
	h := config.HTTPS{ALPN: []string{"h2"}}
	p, _, _ := steeredHTTPS(t, "weighted", h, "10.0.0.1", "10.0.0.2", "10.0.0.3")
	turns, counts := zone.NewRotations(1, 1), map[string]int{}
	for range 300 {
		a, _ := asks(p, steered, dns.TypeA, "192.0.2.1", turns)
		hint, _ := asks(p, steered, dns.TypeHTTPS, "192.0.2.1", turns)
		counts[a[0]]++
		counts[strings.Trim(strings.TrimPrefix(hint[0], `1 . alpn="h2" ipv4hint=`), `"`)]--
	}
	if len(counts) != 3 {
		t.Errorf("addresses %v, want 3", counts)
	}
	for address, more := range counts {
		if more < -1 || more > 1 {
			t.Errorf("%s is %d times more often in A than in hints", address, more)
		}
	}
}

// If both families have equal decisions, each hint has the share of its address in A or AAAA. If a client has a fixed
// address among several of each family, the answer has one hint.
func TestHTTPS_HasBothFamiliesWhereTheirSharesCanBeKept(t *testing.T) {
	list := []string{"10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2"}
	p, _, _ := steeredHTTPS(t, "round-robin", config.HTTPS{ALPN: []string{"h2"}}, list...)
	turns, counts := zone.NewRotations(1, 1), map[string]int{}
	for range 100 {
		hints, _ := asks(p, steered, dns.TypeHTTPS, "192.0.2.1", turns)
		counts[strings.TrimPrefix(hints[0], `1 . alpn="h2" `)]++
	}
	for _, both := range []string{`ipv4hint="10.0.0.1" ipv6hint="2001:db8::1"`,
		`ipv4hint="10.0.0.2" ipv6hint="2001:db8::2"`} {
		if counts[both] != 50 {
			t.Errorf("%s is answered %d times of 100: %v", both, counts[both], counts)
		}
	}
	p, _, _ = steeredHTTPS(t, "client-hash", config.HTTPS{ALPN: []string{"h2"}}, list...)
	if hints, _ := asks(p, steered, dns.TypeHTTPS, "192.0.2.1", turns); len(hints) != 1 ||
		strings.Contains(hints[0], "ipv6hint") {
		t.Errorf("client-hash: %q", hints)
	}
	for _, algorithm := range []string{"proximity", "failover"} {
		b, s := placedSettings(t, config.Domain{RoutingAlgorithm: algorithm, HTTPS: config.HTTPS{ALPN: []string{"h2"}}})
		for _, backend := range b.data["app.gslb.test"] {
			six := *backend
			octets := backend.Address.As4()
			six.Address = netip.AddrFrom16([16]byte{0: 0x20, 13: octets[1], 14: octets[2], 15: octets[3]})
			b.data["app.gslb.test"] = append(b.data["app.gslb.test"], &six)
		}
		p := newPublisher(t, b, s)
		for _, client := range []string{"198.51.100.7", "203.0.113.7"} {
			hints, _ := asks(p, "app.gslb.test.", dns.TypeHTTPS, client, turns)
			var four, six string
			if len(hints) == 1 {
				_, addresses, _ := strings.Cut(hints[0], `ipv4hint="10.0.`)
				four, six, _ = strings.Cut(strings.TrimSuffix(addresses, `"`), `" ipv6hint="2000::`)
			}
			if four == "" || strings.ReplaceAll(four, ".", "0") != six {
				t.Errorf("%s, %s: %q has not the same backend twice", algorithm, client, hints)
			}
		}
	}
}

func TestHTTPS_ARecordOfTheZoneBesideIsRefused(t *testing.T) {
	s := testSettings()
	s.DNS.Zones[0].Records = []string{"app HTTPS 1 . alpn=h2"}
	if problems := Check(s); len(problems) != 0 {
		t.Errorf("without https: %v", problems)
	}
	s.Domains[0].HTTPS.ALPN = []string{"h2"}
	if problems := Check(s); len(problems) != 1 {
		t.Errorf("with https: %v, want one problem", problems)
	}
}
