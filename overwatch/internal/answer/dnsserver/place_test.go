package dnsserver // inside: it uses udpSize

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/policy"
)

// testPlaces has clients in 203.0.113.0/24 and 2001:db8:2::/48 in the region far, all other clients in the region home,
// and many other networks.
func testPlaces(t testing.TB) *geo.Table {
	t.Helper()
	s := geo.Sources{Regions: []geo.Region{{Name: "home"}, {Name: "far"}}, DefaultRegion: "home"}
	for _, far := range []string{"203.0.113.0/24", "2001:db8:2::/48"} {
		s.Mappings = append(s.Mappings, geo.Mapping{CIDR: netip.MustParsePrefix(far), Region: "far"})
	}
	for i := range 20_000 {
		network := netip.AddrFrom4([4]byte{byte(60 + i>>14), byte(i >> 6), byte(i << 2), 0})
		s.Mappings = append(s.Mappings, geo.Mapping{CIDR: netip.PrefixFrom(network, 23), Region: "far"})
	}
	table, err := geo.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// placedView is testView with other answers for one.gslb.test: 10.9.0.1 for clients in far, and the answers of testView
// for other clients.
func placedView(t testing.TB) *zone.View {
	t.Helper()
	v := testView(t)
	v.SetRegionTable(testPlaces(t))
	decision := func(region, address string) [2]policy.Decision {
		return [2]policy.Decision{
			{Outcome: policy.Success, TTL: 60, Group: region,
				Members: []policy.Member{{Address: netip.MustParseAddr(address), Parts: 1}}},
			{Outcome: policy.NoData},
		}
	}
	home := decision("home", "10.0.0.6")
	decisions := [][2]policy.Decision{home, home, decision("far", "10.9.0.1")}
	if _, err := zone.NewWriter().SetRegionAnswers(v, "one.gslb.test.", decisions,
		1); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRespond_TheClientIsWhoTheSubnetOptionNames(t *testing.T) {
	r := testResponder(placedView(t))
	for _, c := range []struct {
		name, from, subnet string // subnet in zone-file form of its octets
		address, scope     string // scope as the option says, empty for no option
	}{
		{"nothing named: the sender", "203.0.113.7", "", "10.9.0.1", ""},
		{"nothing named: the sender, elsewhere", "198.51.100.7", "", "10.0.0.6", ""},
		{"an IPv4-mapped sender", "::ffff:203.0.113.7", "", "10.9.0.1", ""},
		{"a network", "198.51.100.7", "\x00\x01\x18\x00\xcb\x00\x71", "10.9.0.1", "203.0.113.0/24/24"},
		{"a network elsewhere", "203.0.113.7", "\x00\x01\x18\x00\xc6\x33\x64", "10.0.0.6", "198.51.100.0/24/5"},
		{"fewer bits than it depends on", "198.51.100.7", "\x00\x01\x10\x00\xcb\x00", "10.0.0.6", "203.0.0.0/16/18"},
		{"IPv6", "198.51.100.7", "\x00\x02\x38\x00\x20\x01\x0d\xb8\x00\x02\x01", "10.9.0.1", "[2001:db8:2:100::]/56/48"},
		{"who does not want to tell", "203.0.113.7", "\x00\x01\x00\x00", "10.9.0.1", "0.0.0.0/0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			packet := query(t, "one.gslb.test.", dns.TypeA, edns0(1232))
			if c.subnet != "" {
				packet = query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(8, c.subnet)))
			}
			m := read(t, r.respond(packet, netip.MustParseAddr(c.from), false, make([]byte, 0, udpSize)))
			scope := ""
			for _, o := range m.IsEdns0().Option {
				if subnet, ok := o.(*dns.EDNS0_SUBNET); ok {
					scope = subnet.String()
				}
			}
			if got := m.Answer[0].(*dns.A).A.String(); got != c.address || scope != c.scope {
				t.Errorf("%s with %q, want %s with %q", got, scope, c.address, c.scope)
			}
		})
	}
}

func TestRespond_TheSubnetOptionCountsOnlyWhereItIsUnderstood(t *testing.T) {
	r := testResponder(placedView(t))
	r.clientSubnet = false
	packet := query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71")))
	m := read(t, r.respond(packet, testClient, false, make([]byte, 0, udpSize)))
	if got := m.Answer[0].(*dns.A).A.String(); got != "10.0.0.6" || len(m.IsEdns0().Option) > 0 {
		t.Errorf("%s with %v, want the sender's answer without an option", got, m.IsEdns0().Option)
	}
}

// The target of an alias that depends on the client's region may have the same answers for all clients, or none. The
// alias itself still depends on the client.
func TestRespond_TheScopeOfAnAliasStaysWhateverItLeadsTo(t *testing.T) {
	v := viewOf(t, zone.Contents{Balanced: []string{"cdn.gslb.test."},
		Types: map[string][]*zone.Type{"cdn.gslb.test.": zone.AliasTypes}})
	v.SetRegionTable(testPlaces(t))
	w := zone.NewWriter()
	packet := query(t, "cdn.gslb.test.", dns.TypeA, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71")))
	for target, want := range map[string]string{
		"one.gslb.test.": "NOERROR aa; cdn.gslb.test. 60 IN CNAME one.gslb.test.; one.gslb.test. 60 IN A 10.0.0.6",
		"v6.gslb.test.":  "NOERROR aa; cdn.gslb.test. 60 IN CNAME v6.gslb.test." + soaLine,
		"nx.gslb.test.":  "NXDOMAIN aa; cdn.gslb.test. 60 IN CNAME nx.gslb.test." + soaLine,
	} {
		decision := func(region, target string) [2]policy.Decision {
			return [2]policy.Decision{{Outcome: policy.Success, TTL: 60, Group: region,
				Members: []policy.Member{{Target: target, Parts: 1}}}}
		}
		home := decision("home", "dual.gslb.test.")
		decisions := [][2]policy.Decision{home, home, decision("far", target)}
		if _, err := w.SetRegionAnswers(v, "cdn.gslb.test.", decisions, 1); err != nil {
			t.Fatal(err)
		}
		m := askUDP(t, testResponder(v), packet)
		const opt = "v0 1232 8=203.0.113.0/24/24"
		if describe(m) != want || describeOPT(m) != opt {
			t.Errorf("got %s, OPT %s\nwant %s, OPT %s", describe(m), describeOPT(m), want, opt)
		}
	}
}

// placedQueries contains queries for the placed name from clients in both regions.
func placedQueries(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"sender": query(t, "one.gslb.test.", dns.TypeA),
		"subnet": query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71"))),
		"IPv6 subnet": query(t, "one.gslb.test.", dns.TypeA,
			edns0(1232, option(8, "\x00\x02\x38\x00\x20\x01\x0d\xb8\x00\x02\x01"))),
		"ANY":     query(t, "one.gslb.test.", dns.TypeANY, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71"))),
		"no data": query(t, "one.gslb.test.", dns.TypeAAAA, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71"))),
	}
}

func TestRespond_LocatesTheClientAsTheOracleDoes(t *testing.T) {
	v := placedView(t)
	for _, packet := range placedQueries(t) {
		compareWithOracle(t, v, packet, false)
		compareWithOracle(t, v, packet, true)
	}
	for _, packet := range corpus(t) {
		compareWithOracle(t, v, packet, false)
	}
}

func TestRespond_PlacingTheClientAllocatesNothing(t *testing.T) {
	r := testResponder(placedView(t))
	out := make([]byte, 0, udpSize)
	for name, packet := range placedQueries(t) {
		if n := testing.AllocsPerRun(100, func() { r.respond(packet, testClient, false, out) }); n != 0 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}

// The benchmark sends the same query for a name with the same answer for all clients, and for a name whose answer
// depends on the client's location, with a table of 20 000 networks.
func BenchmarkRespond_Placed(b *testing.B) {
	packet := query(b, "one.gslb.test.", dns.TypeA, edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71")))
	for name, v := range map[string]*zone.View{"alike": testView(b), "placed": placedView(b)} {
		r := testResponder(v)
		out := make([]byte, 0, udpSize)
		var clients [256]netip.Addr
		for i := range clients {
			clients[i] = netip.MustParseAddr(fmt.Sprintf("%d.%d.2.3", i, 255-i))
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				packet[len(packet)-3] = byte(i)
				r.respond(packet, clients[i%len(clients)], false, out)
			}
		})
	}
}
