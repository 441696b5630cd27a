package geo // inside: it uses embeddedIPv4 and parseDatabase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo/geotest"
)

// placedRegions returns regions with positions, but for one.
func placedRegions() []Region {
	out := append([]Region(nil), regions...)
	out[0].Position = &Position{50.11, 8.68}
	out[1].Position = &Position{51.51, -0.13}
	out[2].Position = &Position{40.71, -74.01}
	return out
}

func TestSpots_ClientsAreWhereTheMappingTheDatabaseOrTheirRegionSays(t *testing.T) {
	database, err := parseDatabase(geotest.Database([]geotest.Network{
		{CIDR: netip.MustParsePrefix("198.51.100.0/24"), Record: geotest.Located("US", "NA", 40.7, -74)},
		{CIDR: netip.MustParsePrefix("198.51.101.0/24"), Record: geotest.Located("US", "NA", 37.8, -122.4)},
		{CIDR: netip.MustParsePrefix("198.51.102.0/24"), Record: map[string]any{"country": map[string]any{"iso_code": "US"}}},
		{CIDR: netip.MustParsePrefix("198.51.103.0/24"), Record: geotest.Located("US", "NA", math.NaN(), 400)},
		{CIDR: netip.MustParsePrefix("198.51.104.0/24"), Record: geotest.Located("AU", "OC", 0, 0)},
		{CIDR: netip.MustParsePrefix("198.51.105.0/24"),
			Record: map[string]any{"country_code": "GB", "latitude": 57.1, "longitude": -2.1}},
		{CIDR: netip.MustParsePrefix("198.51.106.0/24"), Record: map[string]any{"country_code": "jp"}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	table := mustNew(t, Sources{Regions: placedRegions(), Database: database, WithLocations: true, Mappings: []Mapping{
		{CIDR: netip.MustParsePrefix("198.51.100.128/25"), Region: "eu"},
		{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "asia"},
	}})
	for client, want := range map[string]string{
		"198.51.100.1":               "us at 40.75 -74.00",
		"2002:c633:6401::1":          "us at 40.75 -74.00",
		"64:ff9b::c633:6401":         "us at 40.75 -74.00",
		"::ffff:198.51.100.1":        "us at 40.75 -74.00",
		"2001:0:53aa:64c::39cc:9bfe": "us at 40.75 -74.00", // Teredo of 198.51.100.1
		"198.51.100.129":             "eu at 50.11 8.68",
		"198.51.101.1":               "us at 37.75 -122.50",
		"198.51.102.1":               "us at 40.71 -74.01",
		"198.51.103.1":               "us at 40.71 -74.01",
		"198.51.104.1":               "asia at 0.00 0.00",
		"198.51.105.1":               "uk at 57.00 -2.00",
		"198.51.106.1":               "asia",
		"10.1.1.1":                   "asia",
		"203.0.113.1":                "",
	} {
		id, scope := table.Locations().Locate(netip.MustParseAddr(client))
		location := table.Locations().List()[id]
		got := table.RegionName(location.Region)
		if location.Position != nil {
			got += fmt.Sprintf(" at %.2f %.2f", location.Position.Latitude, location.Position.Longitude)
		}
		if region, _ := table.Locate(netip.MustParseAddr(client)); got != want || region != location.Region {
			t.Errorf("%s: %q (in %q, scope %d), want %q", client, got, table.RegionName(region), scope, want)
		}
	}
	if first := table.Locations().List()[0]; first.Region != NoRegion || first.Position != nil {
		t.Errorf("the first spot is %+v, want nowhere", first)
	}
}

func TestDatabase_FlatLayoutsAreRead(t *testing.T) {
	one := netip.MustParsePrefix("192.0.2.0/24")
	for want, record := range map[string]map[string]any{
		"DE EU": {"country_code": "DE", "continent_code": "EU"},
		"FR EU": {"country_code": "fr"},
		"US NA": {"country": "US", "continent": "NA"},
		"BR SA": {"country": map[string]any{"iso_code": "BR"}},
		" AS":   {"continent_code": "AS"},
		" EU":   {"country": map[string]any{"iso_code": "EU"}},
		" OC":   {"country_code": "AP", "continent_code": "OC"},
		"CW NA": {"country_code": "AN"},
		"RS EU": {"country": map[string]any{"iso_code": "YU"}},
		" ":     {"autonomous_system_number": 1.0, "autonomous_system_organization": "an organization"},
	} {
		d, err := parseDatabase(geotest.Database([]geotest.Network{{CIDR: one, Record: record}}))
		if err != nil {
			t.Fatal(err)
		}
		record, network, err := d.lookup(one.Addr())
		if got := record.Country + " " + record.Continent; err != nil || got != want || network != one {
			t.Errorf("%v: %q in %s (%v), want %q", record, got, network, err, want)
		}
	}
}

// TestSpots_ScopeIsExact checks that all addresses in the returned scope are at the returned spot, with databases and
// mappings of all kinds.
func TestSpots_ScopeIsExact(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		database, err := parseDatabase(geotest.Database(randomNetworks(rng)))
		if err != nil {
			t.Fatal(err)
		}
		table := mustNew(t, Sources{Regions: placedRegions(), DefaultRegion: []string{"", "eu"}[rng.IntN(2)],
			Database: database, WithLocations: true})
		for range 1000 {
			a := randomAddr(rng)
			id, scope := table.Locations().Locate(a)
			for range 4 {
				b := within(rng, netip.PrefixFrom(a, int(scope)).Masked())
				if other, _ := table.Locations().Locate(b); other != id {
					t.Fatalf("seed %d: %s is at %d with scope %d, but %s at %d", seed, a, id, scope, b, other)
				}
			}
		}
	}
}

// randomNetworks has countries here and there, some with positions.
func randomNetworks(rng *rand.Rand) (networks []geotest.Network) {
	for range 1 + rng.IntN(40) {
		a := randomAddr(rng)
		record := map[string]any{"country_code": []string{"GB", "DE", "US", "JP", "ZZ"}[rng.IntN(5)]}
		if rng.IntN(3) > 0 {
			record = geotest.Located([]string{"GB", "DE", "US", ""}[rng.IntN(4)], "", rng.Float64()*180-90,
				rng.Float64()*360-180)
		}
		networks = append(networks, geotest.Network{CIDR: netip.PrefixFrom(a, 1+rng.IntN(a.BitLen())).Masked(),
			Record: record})
	}
	return networks
}

func TestSpots_AreBoundedByACoarserGrid(t *testing.T) {
	var networks []geotest.Network
	for i := range 2 * MaxLocations {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		networks = append(networks, geotest.Network{CIDR: netip.PrefixFrom(a, 32),
			Record: geotest.Located("", "", float64(i/360)/4-30, float64(i%360)-180)})
	}
	database, err := parseDatabase(geotest.Database(networks))
	if err != nil {
		t.Fatal(err)
	}
	locations := mustNew(t, Sources{Regions: placedRegions(), Database: database, WithLocations: true}).Locations()
	if n := len(locations.List()); n > MaxLocations || n < MaxLocations/8 {
		t.Errorf("%d spots", n)
	}
	for i := range networks {
		id, _ := locations.Locate(networks[i].CIDR.Addr())
		at := locations.List()[id].Position
		if lat, lon := float64(i/360)/4-30, float64(i%360)-180; at == nil || math.Abs(at.Latitude-lat) > 1 ||
			math.Abs(at.Longitude-lon) > 1 {
			t.Fatalf("%s is at %v, want within a degree of %v %v", networks[i].CIDR, at, lat, lon)
		}
	}
}

func TestSpots_AreNotMadeUnlessAskedFor(t *testing.T) {
	if table := mustNew(t, Sources{Regions: placedRegions()}); table.Locations() != nil {
		t.Error("they were")
	}
}

func TestSpots_OfMaxMindsCityFile(t *testing.T) {
	table := mustNew(t, Sources{Regions: placedRegions(), Database: mustRead(t, "GeoIP2-City-Test.mmdb"),
		WithLocations: true})
	id, scope := table.Locations().Locate(netip.MustParseAddr("81.2.69.142")) // London
	if at := table.Locations().List()[id].Position; at == nil || math.Abs(at.Latitude-51.5) > .3 ||
		math.Abs(at.Longitude) > .3 || scope < 24 {
		t.Errorf("81.2.69.142 is at %v, scope %d", at, scope)
	}
}

// TestNetwork_ScopeIsExact checks that all addresses in the scope have the number, and that addresses outside the scope
// with the number are in the prefix itself.
func TestNetwork_ScopeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	edges := []string{"64:ff9b::1:0:0:0", "64:ff9b::1", "64:ff9b:0:1::", "::1", "::ffff:1.2.3.4", "::fffe:0:1", "2001::1",
		"2001:1::1", "2002::1", "2003::1", "2000:ffff::1", "10.1.2.3"}
	for range 20_000 {
		v4, v6 := uint8(rng.IntN(33)), uint8(rng.IntN(65))
		a := randomAddr(rng)
		if rng.IntN(2) == 0 {
			a = netip.MustParseAddr(edges[rng.IntN(len(edges))])
		}
		network, scope := Network(a, v4, v6)
		for range 8 {
			b := within(rng, netip.PrefixFrom(a, int(scope)).Masked())
			if other, _ := Network(b, v4, v6); other != network {
				t.Fatalf("/%d and /%d: %s is in %x with scope %d, but %s in %x", v4, v6, a, network, scope, b, other)
			}
		}
		if _, _, carries := embeddedIPv4(a); !carries && scope == v6 && v6 > 0 {
			outside := netip.PrefixFrom(a, int(v6)).Masked().Addr().As16()
			outside[(v6-1)/8] ^= 1 << (7 - (v6-1)%8)
			if other, _ := Network(netip.AddrFrom16(outside), v4, v6); other == network {
				if _, _, carries := embeddedIPv4(netip.AddrFrom16(outside)); !carries {
					t.Fatalf("/%d: %s and %s are both in %x", v6, a, netip.AddrFrom16(outside), network)
				}
			}
		}
	}
}

func TestNetwork_CarriedAddressesAreInTheNetworkOfTheirClient(t *testing.T) {
	want, _ := Network(netip.MustParseAddr("198.51.100.1"), 24, 56)
	for client, scope := range map[string]uint8{
		"198.51.100.200": 24, "::ffff:198.51.100.7": 120, "2002:c633:6401::1": 40, "64:ff9b::c633:6401": 120,
		"2001:0:53aa:64c::39cc:9bfe": 120,
	} {
		if got, bits := Network(netip.MustParseAddr(client), 24, 56); got != want || bits != scope {
			t.Errorf("%s: %x, scope %d, want %x and %d", client, got, bits, want, scope)
		}
	}
}

func TestLocators_DoNotAlloc(t *testing.T) {
	table := mustNew(t, Sources{Regions: placedRegions(), Database: mustRead(t, "GeoIP2-City-Test.mmdb"),
		WithLocations: true})
	a, b := netip.MustParseAddr("81.2.69.160"), netip.MustParseAddr("2001:218::1")
	if n := testing.AllocsPerRun(100, func() {
		table.Locations().Locate(a)
		table.Locations().Locate(b)
		Network(a, 24,
			56)
		Network(b, 24, 56)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
