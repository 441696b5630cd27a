package publish // inside: it shares publisher_test.go

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/settings"
)

func TestSRV_FollowsSettingsAndHealth(t *testing.T) {
	p, b, s := steeredHTTPS(t, "weighted", config.HTTPS{}, "10.0.0.1:5060", "10.0.0.2:5060", "[2001:db8::1]:5060")
	turns := zone.NewRotations(1, 1)
	expect := func(when, name, want string) {
		t.Helper()
		if got, kind := asks(p, name, dns.TypeSRV, "192.0.2.1", turns); fmt.Sprint(kind, got) != want {
			t.Errorf("%s: %s is %v %q, want %s", when, name, kind, got, want)
		}
	}
	set := func(services ...string) {
		t.Helper()
		s.Domains = []config.Domain{s.Domains[0]}
		s.Domains[0].SRV = services
		if err := p.Reconfigure(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(list ...string) {
		b.set("a.gslb.test", list...)
		p.Mark("a.gslb.test")
		p.Flush(t.Context())
	}
	const sip, sips = "_sip._tcp.a.gslb.test.", "_sips._tcp.a.gslb.test."
	none, found := fmt.Sprint(zone.NXDomain, " []"), fmt.Sprint(zone.Positive, " ")
	one := found + "[0 100 5060 a.gslb.test.]"
	expect("without srv", sip, none)
	set("_sip._tcp")
	expect("with srv", sip, one)
	expect("another service", sips, none)
	expect("between", "_tcp.a.gslb.test.", fmt.Sprint(zone.NoData, " []"))
	set("_sips._tcp", "_sip._tcp")
	expect("two services", sip, one)
	expect("two services", sips, one)
	set("_sips._tcp")
	expect("taken away", sip, none)
	expect("left", sips, one)
	serve("10.0.0.1:5060 down", "10.0.0.2:5060")
	expect("one down", sips, one)
	serve("10.0.0.1:5060", "10.0.0.2:5060", "10.0.0.3:5060", "10.0.0.2:5070")
	expect("two ports", sips, found+"[0 25 5070 a.gslb.test. 0 75 5060 a.gslb.test.]")
	serve("[2001:db8::1]:5080")
	expect("IPv6 alone", sips, found+"[0 100 5080 a.gslb.test.]")
	serve("10.0.0.1:5060 down")
	expect("all down", sips, fmt.Sprint(zone.Failed, " []"))
	serve()
	expect("nobody", sips, fmt.Sprint(zone.Failed, " []"))

	// The name of the records becomes the name of a domain, and the reverse.
	serve("10.0.0.1:5060")
	a := s.Domains[0]
	own := a
	own.Name, own.SRV, a.SRV = strings.TrimSuffix(sips, "."), nil, nil
	b.set(own.Name, "10.0.0.9:1")
	for range 2 {
		s.Domains = []config.Domain{a, own}
		if err := p.Reconfigure(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
		expect("a domain", sips, fmt.Sprint(zone.NoData, " []"))
		if got, _ := asks(p, sips, dns.TypeA, "192.0.2.1", turns); !slices.Equal(got, []string{"10.0.0.9"}) {
			t.Errorf("the domain has the addresses %q", got)
		}
		set("_sips._tcp")
		expect("no domain any more", sips, one)
	}
}

// If the answer depends on the client, the SRV record has the port of the client's backend.
func TestSRV_FollowsTheClient(t *testing.T) {
	for algorithm, want := range map[string][2]string{
		"proximity": {"5001", "5002"}, "geolocation": {"5002", "5002"}, "failover": {"5002", "5002"},
		"client-hash": {"5000 5001 5002", "5000 5001 5002"}, "round-robin": {"5000 5001 5002", "5000 5001 5002"},
	} {
		b, s := placedSettings(t, config.Domain{RoutingAlgorithm: algorithm, SRV: []string{"_sip._tcp"}})
		for i, backend := range b.data["app.gslb.test"] {
			backend.Port = uint16(5000 + i/2)
		}
		p := newPublisher(t, b, s)
		for i, client := range []string{"198.51.100.7", "203.0.113.7"} {
			data, kind := asks(p, "_sip._tcp.app.gslb.test.", dns.TypeSRV, client, zone.NewRotations(1, 1))
			var got []string
			for _, record := range data {
				got = append(got, strings.Fields(record)[2])
			}
			if strings.Join(got, " ") != want[i] {
				t.Errorf("%s, %s: %v %q, want %s", algorithm, client, kind, data, want[i])
			}
		}
	}
}

func TestSRV_NamesThatCannotBeAreRefused(t *testing.T) {
	for what, change := range map[string]func(*Settings){
		"":                            func(*Settings) {},
		"_sip._tcp.app.gslb.test.":    func(s *Settings) { s.Defined = []config.Domain{{Name: "_sip._tcp.APP.gslb.test"}} },
		"_sip._tcp.app SRV 0 0 1 .":   func(s *Settings) { s.DNS.Zones[0].Records = []string{"_sip._tcp.app SRV 0 0 1 ."} },
		"_sip._tcp.app CNAME x.test.": func(s *Settings) { s.DNS.Zones[0].Records = []string{"_sip._tcp.app CNAME x.test."} },
		"_sip._tcp.app.gslb.test. ": func(s *Settings) {
			s.DNS.Zones = append(s.DNS.Zones, config.Zone{Name: "_tcp.app.gslb.test"})
		},
		"[_sip._tcp]": func(s *Settings) { s.Domains[0].Answer = config.AnswerCNAME },
		" ":           func(s *Settings) { s.DNS.Zones[0].Records = []string{"_sip._tcp.app TXT beside"} },
	} {
		s := testSettings()
		s.Domains[0].SRV = []string{"_sip._tcp"}
		change(&s)
		want := strings.TrimSpace(what)
		problems := Check(s)
		found := slices.ContainsFunc(problems, func(p settings.Problem) bool { return p.Value == want })
		if found != (want != "") {
			t.Errorf("%q: %v", what, problems)
		}
	}
}
