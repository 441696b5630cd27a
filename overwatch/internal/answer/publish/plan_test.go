package publish // inside: it uses domain, mailbox and newPlan

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
)

// zoneWith returns the settings with one zone and the domain app.gslb.test.
func zoneWith(z config.Zone) Settings {
	z.Name = "gslb.test"
	return Settings{
		DNS:     config.DNS{DefaultTTL: 30, Zones: []config.Zone{z}},
		Domains: []config.Domain{{Name: "app.gslb.test"}},
		NodeID:  "node",
	}
}

// chain returns a chain of aliases from c0.
func chain(aliases int) (lines []string) {
	for i := range aliases {
		lines = append(lines, fmt.Sprintf("c%d CNAME C%d", i, i+1))
	}
	return lines
}

// addresses returns count address records of the same name.
func addresses(count int) (lines []string) {
	for i := range count {
		lines = append(lines, fmt.Sprintf("many A 10.0.%d.%d", i>>8, i&255))
	}
	return lines
}

func TestCheck_AcceptsWhatCanBeServed(t *testing.T) {
	for _, z := range []config.Zone{
		{},
		{Records: []string{"www CNAME app", "@ MX 10 mail.example.com.", "@ 60 CAA 0 issue \"ca.example\"",
			"_sip._tcp SRV 1 2 5060 app", "app TXT x", "*.w A 10.0.0.1", "v6 AAAA 2001:db8::1"}},
		{Nameservers: []string{"ns1.example.com", "NS2.Example.com."}},
		{Nameservers: []string{"ns1.gslb.test"}, Records: []string{"NS1 A 192.0.2.1"}},
		{Nameservers: []string{"node.gslb.test", "app.gslb.test"}},
		{Records: append(chain(8), "c8 A 192.0.2.1", "x TYPE65280 \\# 1 00", "x TYPE127 \\# 0",
			"x TYPE256 \\# 5 0001000161")},
		{Records: append(chain(8), "out CNAME www.example.com.")},
		{Records: addresses(3000)},
		{Admin: "host.master@example.com"},
		{Admin: "hostmaster.example.com."},
	} {
		if problems := Check(zoneWith(z)); len(problems) > 0 {
			t.Errorf("%+v: %v", z, problems)
		}
	}
}

func TestCheck_NamesKeyValueAndRemedy(t *testing.T) {
	record := func(lines ...string) config.Zone { return config.Zone{Records: lines} }
	cases := []struct {
		zone     config.Zone
		key, say string
	}{
		{record("www A 10.0.0.300"), "dns.zones[0].records[0]", "not a line of a zone file"},
		{record("www"), "dns.zones[0].records[0]", "no record in it"},
		{record(addresses(4000)...), "dns.zones[0]",
			"4000 records of type A at many.gslb.test.: 64000 octets, more than fit"},
		{record(" A 10.0.0.1"), "dns.zones[0].records[0]", "begin with the owner"},
		{record(""), "dns.zones[0].records[0]", "no record in it"},
		{record("; only a comment"), "dns.zones[0].records[0]", "no record in it"},
		{record("$INCLUDE /etc/passwd"), "dns.zones[0].records[0]", "not a line"},
		{record("www CH A 10.0.0.1"), "dns.zones[0].records[0]", "not IN"},
		{record("@ SOA a b 1 2 3 4 5"), "dns.zones[0].records[0]", "made from"},
		{record("@ NS ns1.example.com."), "dns.zones[0].records[0]", "key nameservers"},
		{record("sub NS ns1.example.com."), "dns.zones[0].records[0]", "delegations to other servers are not served"},
		{record("sub DNAME example.com."), "dns.zones[0].records[0]", "CNAME per name"},
		{record("@ DS 1 13 2 00"), "dns.zones[0].records[0]", "parent zone"},
		{record("www.example.org. A 10.0.0.1"), "dns.zones[0].records[0]", "not in the zone gslb.test."},
		{record("x A 10.0.0.1", "app A 10.0.0.1"), "dns.zones[0].records[1]", "is a load-balanced domain"},
		{record(`\097pp CNAME x`), "dns.zones[0].records[0]", "is a load-balanced domain"},
		{record("x CNAME y", `\120 TXT y`), "dns.zones[0].records[1]", "an alias has no other records"},
		{record(`x CNAME \120`), "dns.zones[0].records[0]", "circle"},
		{record("app CNAME x"), "dns.zones[0].records[0]", "is a load-balanced domain"},
		{record("x A 10.0.0.1", "x CNAME y"), "dns.zones[0].records[1]", "an alias has no other records"},
		{record("x CNAME y", "X TXT y"), "dns.zones[0].records[1]", "an alias has no other records"},
		{record("x CNAME y", "x CNAME z"), "dns.zones[0].records[1]", "an alias has no other records"},
		{record("@ CNAME y"), "dns.zones[0].records[0]", "an alias has no other records"},
		{record("x TYPE0 \\# 0"), "dns.zones[0].records[0]", "no type of data"},
		{record("x TYPE41 \\# 0"), "dns.zones[0].records[0]", "OPT is no type of data"},
		{record("x TYPE128 \\# 0"), "dns.zones[0].records[0]", "no type of data"},
		{record("x TYPE255 \\# 0"), "dns.zones[0].records[0]", "ANY is no type of data"},
		{record("x CNAME X"), "dns.zones[0].records[0]", "circle (x.gslb.test., x.gslb.test.)"},
		{
			record("in CNAME x", "x CNAME y", "y CNAME X", "also CNAME y"),
			"dns.zones[0].records[0]",
			"circle (in.gslb.test., x.gslb.test., y.gslb.test., x.gslb.test.)",
		},
		{
			record(append(chain(8), "c8 CNAME c9")...),
			"dns.zones[0].records[0]",
			"more than 8 aliases in a row, so the answer would be SERVFAIL; let it lead to c9.gslb.test. directly",
		},
		{record("x 3000000000 A 10.0.0.1"), "dns.zones[0].records[0]", "at most 2147483647"},
		{config.Zone{Nameservers: []string{"192.0.2.1"}}, "dns.zones[0].nameservers[0]", "not a host name"},
		{config.Zone{Nameservers: []string{"ns1.example.com", "ns1"}}, "dns.zones[0].nameservers[1]", "in full"},
		{config.Zone{Nameservers: []string{"ns1.gslb.test"}}, "dns.zones[0].nameservers[0]", "no address there"},
		{
			config.Zone{Nameservers: []string{"ns1.gslb.test"}, Records: []string{"ns1 CNAME app"}},
			"dns.zones[0].nameservers[0]",
			"must not be an alias",
		},
		{config.Zone{Admin: "@example.com"}, "dns.zones[0].admin", "neither a mail address"},
		{config.Zone{Admin: "me@"}, "dns.zones[0].admin", "neither a mail address"},
	}
	for _, c := range cases {
		problems := Check(zoneWith(c.zone))
		if len(problems) != 1 || problems[0].Key != c.key || !strings.Contains(problems[0].Message, c.say) {
			t.Errorf("%+v: problems %v, want one at %s that says %q", c.zone, problems, c.key, c.say)
		}
	}
}

// An alias loop through a wildcard is a warning instead of a problem, because a name of the API may end the loop.
func TestExamine_WarnsOfAliasesThatAWildcardLeadsInACircle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		records []string
		say     string // expected warning; "": none
	}{
		{[]string{"*.x CNAME a.x"},
			"dns.zones[0].records[0]: aliases in a circle through a wildcard (*.x.gslb.test., a.x.gslb.test., a.x.gslb.test.)"},
		{[]string{"* CNAME a.b.c"}, "circle"},
		{[]string{"*.x CNAME y", "y CNAME B.x"},
			"circle through a wildcard (*.x.gslb.test., y.gslb.test., b.x.gslb.test., y.gslb.test.)"},
		{append(chain(5), "*.x CNAME c0", "c5 CNAME q.x"), "circle"},
		{append(chain(5), "*.x CNAME www.example.com.", "c5 CNAME q.x"), ""},
		{[]string{"*.x CNAME app"}, ""},
		{[]string{"*.x CNAME a.x", "a.x A 192.0.2.1"}, ""},
		{[]string{"*.x CNAME a.x", "b.a.x A 192.0.2.1"}, ""}, // a.x exists and has no records
		{[]string{"*.x CNAME b.a.x", "a.x A 192.0.2.1"}, ""}, // the wildcard does not match names below a.x
		{[]string{"*.x CNAME www.example.com."}, ""},
		{[]string{"*.x CNAME a.sub"}, ""}, // in another zone
	} {
		s := zoneWith(config.Zone{Records: c.records})
		s.DNS.Zones = append(s.DNS.Zones, config.Zone{Name: "sub.gslb.test"})
		problems, cautions := Examine(s)
		if len(problems) > 0 {
			t.Errorf("%q: %v", c.records, problems)
		}
		if told := len(cautions) == 1; told != (c.say != "") || told && !strings.Contains(cautions[0], c.say) {
			t.Errorf("%q: cautions %q, want one that says %q", c.records, cautions, c.say)
		}
	}
}

func TestCheck_FindsFaultsOfZonesAndDomains(t *testing.T) {
	s := Settings{
		DNS: config.DNS{
			Zones: []config.Zone{
				{Name: "gslb.test"},
				{Name: "GSLB.test."},
				{Name: "bad..name"},
				{Name: "sub.gslb.test", Records: []string{"x.gslb.test. A 10.0.0.1"}},
			},
		},
		Domains: []config.Domain{
			{Name: "bad..name"}, {Name: ""}, {Name: "many.gslb.test", MaxAnswers: 100_000},
		},
	}
	want := []string{
		"dns.zones[1].name",
		"dns.zones[2].name",
		"domains[0].name",
		"domains[1].name",
		"domains[2].max_answers",
		"dns.zones[3].records[0]",
	}
	got := map[string]bool{}
	for _, p := range Check(s) {
		got[p.Key] = true
	}
	for _, key := range want {
		if !got[key] {
			t.Errorf("no problem at %s: %v", key, got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("problems at %v, want at %v", got, want)
	}
}

func TestPlan_ADomainOutsideEveryZoneMakesItsOwn(t *testing.T) {
	p := newPlan(
		Settings{
			Domains: []config.Domain{{Name: "www.example.com"}, {Name: "example.com"}, {Name: "*.wild.example.net"}},
		},
		nil,
		nil,
		false,
	)
	var apexes []string
	for _, z := range p.zones {
		apexes = append(apexes, z.Apex)
	}
	if got := strings.Join(apexes, " "); got != "example.com. wild.example.net." {
		t.Errorf("zones %q, want the shorter name and what is above the wildcard", got)
	}
}

func TestNodeLabel_IsAHostName(t *testing.T) {
	for id, want := range map[string]string{
		"node-1": "node-1", "Node_1.rack.example": "node-1", "": "ns", "---": "ns", "ünïcode": "n-code",
		strings.Repeat("x", 80): strings.Repeat("x", 63),
	} {
		if got := nodeLabel(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestMailbox_EscapesDotsOfTheLocalPart(t *testing.T) {
	for admin, want := range map[string]string{
		"host.master@example.com": `host\.master.example.com.`, "hostmaster.example.com": "hostmaster.example.com.",
	} {
		if got, ok := mailbox(admin); !ok || got != want {
			t.Errorf("%s: %s, want %s", admin, got, want)
		}
	}
}

func TestNodeAddresses_LoopbackCountsOnlyAlone(t *testing.T) {
	at := func(texts ...string) (out []netip.AddrPort) {
		for _, text := range texts {
			out = append(out, netip.MustParseAddrPort(text))
		}
		return out
	}
	for _, c := range []struct {
		listening []netip.AddrPort
		want      string
	}{
		{at("127.0.0.1:53", "[::1]:53"), "127.0.0.1 ::1"},
		{at("127.0.0.1:53", "192.0.2.1:53", "192.0.2.1:5353"), "192.0.2.1"},
	} {
		got, err := NodeAddresses(c.listening)
		var words []string
		for _, a := range got {
			words = append(words, a.String())
		}
		if err != nil || strings.Join(words, " ") != c.want {
			t.Errorf("%v: %v, %v, want %s", c.listening, got, err, c.want)
		}
	}
	for _, wild := range []string{"0.0.0.0:53", "[::]:53"} {
		got, err := NodeAddresses(at(wild))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range got {
			if a.IsUnspecified() || a.IsLinkLocalUnicast() || a.Is4() != (wild[0] == '0') {
				t.Errorf("%s: %s is not an address to be reached at", wild, a)
			}
		}
	}
}

// Domains with equal settings share rules, and other domains do not.
func TestPlan_RulesAreSharedByDomainsThatAreSteeredAlike(t *testing.T) {
	s := testSettings()
	one := config.Domain{
		Name: "one.gslb.test", RoutingAlgorithm: "latency", Regions: []string{"eu", "us"}, TTL: 10, OnAllDown: "all",
		MinHealthy:        "2",
		FailoverThreshold: 1, FallbackAlgorithm: "weighted",
		LatencyConfig: config.LatencyConfig{
			MaxLatencyMs: 500,
			MinSamples:   3,
		}, Proximity: config.Proximity{ToleranceKm: 1}, ClientHash: config.ClientHash{IPv4Prefix: 24, IPv6Prefix: 56},
	}
	differing := []func(*config.Domain){
		func(d *config.Domain) { d.RoutingAlgorithm = "weighted" },
		func(d *config.Domain) { d.Regions = []string{"us", "eu"} },
		func(d *config.Domain) { d.TTL = 11 },
		func(d *config.Domain) { d.OnAllDown = "last_healthy" },
		func(d *config.Domain) { d.MinHealthy = "50%" },
		func(d *config.Domain) { d.FailoverThreshold = 2 },
		func(d *config.Domain) { d.FallbackAlgorithm = "round-robin" },
		func(d *config.Domain) { d.LatencyConfig.MaxLatencyMs = 400 },
		func(d *config.Domain) { d.LatencyConfig.MinSamples = 4 },
		func(d *config.Domain) { d.Proximity.ToleranceKm = 2 },
		func(d *config.Domain) { d.ClientHash.IPv4Prefix = 16 },
		func(d *config.Domain) { d.ClientHash.IPv6Prefix = 48 },
	}
	for i, differ := range differing {
		alike, other := one, one
		alike.Name, alike.Regions, other.Name = "alike.gslb.test", slices.Clone(one.Regions), "other.gslb.test"
		differ(&other)
		s.Domains = []config.Domain{one, alike, other, one}
		p := newPlan(s, nil, nil, false)
		first, second, third := p.changed["one.gslb.test"].rules, p.changed["alike.gslb.test"].rules,
			p.changed["other.gslb.test"].rules
		if first != second {
			t.Errorf("%d: two domains that are steered alike have rules of their own", i)
		}
		s.Domains = []config.Domain{other}
		alone := newPlan(s, nil, nil, false)
		if want := alone.changed["other.gslb.test"].rules; reflect.DeepEqual(third, first) ||
			!reflect.DeepEqual(third, want) {
			t.Errorf("%d: rules behind those of another domain are %+v, want %+v", i, third, want)
		}
	}
}

func TestPlan_PriorityOrdersTheRegionsOfFailover(t *testing.T) {
	s := zoneWith(config.Zone{})
	s.Domains = []config.Domain{
		{Name: "app.gslb.test", RoutingAlgorithm: "failover"},
		{Name: "own.gslb.test", RoutingAlgorithm: "failover", Regions: []string{"eu", "us"}},
		{Name: "other.gslb.test", RoutingAlgorithm: "round-robin"},
	}
	order := func(p *plan) (all []string) {
		for _, d := range p.domains {
			all = append(all, strings.Join(d.rules.Regions, " "))
		}
		return all
	}
	s.Regions = []config.Region{{Name: "eu", Enabled: true}, {Name: "us", Enabled: true}, {Name: "asia", Enabled: true}}
	before := newPlan(s, nil, nil, false)
	if got := order(before); !slices.Equal(got, []string{"", "eu us", ""}) {
		t.Errorf("without priorities: %q", got)
	}
	s.Regions = []config.Region{{Name: "eu", Enabled: true, Priority: 20}, {Name: "us", Enabled: true, Priority: 10},
		{Name: "asia", Enabled: true, Priority: 20}}
	known := map[string]*domain{}
	for _, d := range before.domains {
		known[d.service] = d
	}
	if got := order(newPlan(s, before, known, false)); !slices.Equal(got, []string{"us asia eu", "eu us", ""}) {
		t.Errorf("after a reload with priorities: %q", got)
	}
}
