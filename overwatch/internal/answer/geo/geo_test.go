package geo // inside: it uses canonical and continentOf

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo/geotest"
)

var regions = []Region{
	{Name: "eu", Continents: []string{"EU"}},
	{Name: "uk", Countries: []string{"gb"}},
	{Name: "us", Countries: []string{"US"}, Continents: []string{"NA"}},
	{Name: "asia", Continents: []string{"AS", "OC"}},
}

func mustRead(t testing.TB, file string) *Database {
	t.Helper()
	d, err := ReadDatabase("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustNew(t testing.TB, s Sources) *Table {
	t.Helper()
	table, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestLocate_OrderIsMappingCountryContinentDefault(t *testing.T) {
	table := mustNew(t, Sources{
		Regions: regions, DefaultRegion: "us", Database: mustRead(t, "GeoIP2-Country-Test.mmdb"),
		Mappings: []Mapping{
			{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "eu"},
			{CIDR: netip.MustParsePrefix("10.1.0.0/16"), Region: "asia", Comment: "lab"},
			{CIDR: netip.MustParsePrefix("2a02:ffc0::/32"), Region: "asia"},
			{CIDR: netip.MustParsePrefix("::ffff:172.16.0.0/108"), Region: "uk"},
		},
	})
	for _, c := range []struct {
		client, region string
		match          MatchType
		scope          uint8
	}{
		{"10.2.3.4", "eu", ByCustomMapping, 15},
		{"10.1.3.4", "asia", ByCustomMapping, 16},
		{"::ffff:10.1.3.4", "asia", ByCustomMapping, 112},
		{"2002:0a01:0304::1", "asia", ByCustomMapping, 32},
		{"64:ff9b::10.1.3.4", "asia", ByCustomMapping, 112},
		{"2001:0:53aa:64c:0:fb:f5fe:fcfb", "asia", ByCustomMapping, 112}, // Teredo of 10.1.3.4
		{"172.16.9.9", "uk", ByCustomMapping, 12},
		{"2a02:ffc0::1", "asia", ByCustomMapping, 32},
		{"81.2.69.160", "uk", ByCountry, 27},
		{"216.160.83.56", "us", ByCountry, 0},
		{"89.160.20.112", "eu", ByContinent, 0},
		{"2001:218::1", "asia", ByContinent, 0},
		{"127.0.0.1", "us", ByDefault, 0},
	} {
		t.Run(c.client, func(t *testing.T) {
			addr := netip.MustParseAddr(c.client)
			id, scope := table.Locate(addr)
			e, err := table.Explain(addr)
			if err != nil {
				t.Fatal(err)
			}
			if table.RegionName(id) != c.region || e.Region != c.region || e.Match != c.match {
				t.Errorf("located in %q, explained as %q by %s; want %q by %s", table.RegionName(id), e.Region, e.Match, c.region,
					c.match)
			}
			if c.scope != 0 && scope != c.scope {
				t.Errorf("scope %d, want %d", scope, c.scope)
			}
		})
	}
}

// reference locates a client in a slow and simple way.
func reference(t testing.TB, table *Table, a netip.Addr) string {
	e, err := table.Explain(a)
	if err != nil {
		t.Fatal(err)
	}
	s := table.sources
	if e.Match == ByCustomMapping {
		return table.mappings(e.Client)[0].Region
	}
	for _, r := range s.Regions {
		for _, c := range r.Countries {
			if normal := len(c) == 2 && e.Record.Country != "" &&
				(c == e.Record.Country || c == "gb" && e.Record.Country == "GB"); normal {
				return r.Name
			}
		}
	}
	for _, r := range s.Regions {
		for _, c := range r.Continents {
			if e.Record.Continent == c {
				return r.Name
			}
		}
	}
	return s.DefaultRegion
}

// TestLocate_ScopeIsExact checks that all addresses in the returned scope are in the returned region.
func TestLocate_ScopeIsExact(t *testing.T) {
	databases := []*Database{nil, mustRead(t, "GeoIP2-City-Test.mmdb"), mustRead(t, "GeoLite2-Country-Test.mmdb")}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := Sources{Regions: regions, DefaultRegion: []string{"", "eu"}[rng.IntN(2)], Database: databases[rng.IntN(3)]}
		seen := map[netip.Prefix]bool{}
		for range rng.IntN(60) {
			a := randomAddr(rng)
			p := canonical(netip.PrefixFrom(a, rng.IntN(a.BitLen()+1)))
			if !seen[p] {
				seen[p] = true
				s.Mappings = append(s.Mappings, Mapping{CIDR: p, Region: regions[rng.IntN(len(regions))].Name})
			}
		}
		table := mustNew(t, s)
		for range 2000 {
			a := randomAddr(rng)
			if len(s.Mappings) > 0 && rng.IntN(2) == 0 {
				a = within(rng, s.Mappings[rng.IntN(len(s.Mappings))].CIDR)
			}
			id, scope := table.Locate(a)
			if want := reference(t, table, a); table.RegionName(id) != want {
				t.Fatalf("seed %d: %s is in %q, want %q", seed, a, table.RegionName(id), want)
			}
			for range 4 {
				b := within(rng, netip.PrefixFrom(a, int(scope)).Masked())
				if other, _ := table.Locate(b); other != id {
					t.Fatalf("seed %d: %s is in %q with scope %d, but %s in %q", seed, a, table.RegionName(id), scope, b,
						table.RegionName(other))
				}
			}
		}
	}
}

func randomAddr(rng *rand.Rand) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], rng.Uint64())
	binary.BigEndian.PutUint64(b[8:], rng.Uint64())
	switch rng.IntN(6) {
	case 0:
		return within(rng, embeddingPrefixes[1+rng.IntN(3)])
	case 1:
		b[0], b[1] = 0x20, 0x01
		return netip.AddrFrom16(b)
	case 2:
		return netip.AddrFrom16(b)
	}
	return netip.AddrFrom4([4]byte(b[:4]))
}

// within returns a random address of p.
func within(rng *rand.Rand, p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] = b[i/8]&^(1<<(7-i%8)) | byte(rng.IntN(2))<<(7-i%8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// Fault 33.
func TestReadDatabase_RefusesDamagedFiles(t *testing.T) {
	for _, file := range []string{
		"GeoIP2-City-Test-Invalid-Node-Count.mmdb", "MaxMind-DB-test-broken-pointers-24.mmdb",
		"MaxMind-DB-test-broken-search-tree-24.mmdb", "LICENSE-MIT", "none", ".",
	} {
		if _, err := ReadDatabase("testdata/" + file); err == nil {
			t.Errorf("%s was read", file)
		}
	}
}

// A database with only IPv4 networks contains no IPv6 client. A lookup of an IPv6 client is not an error.
func TestExplain_WithADatabaseOfIPv4(t *testing.T) {
	text := func(s string) string { return string(rune(2<<5|len(s))) + s }
	// The database has one node, whose two records are the first data. Sizes and types are those of MaxMind's
	// specification.
	content := []byte("\x00\x00\x11\x00\x00\x11" + string(make([]byte, 16)) +
		"\xe1" + text("country") + "\xe1" + text("iso_code") + text("GB") + "\xab\xcd\xefMaxMind.com" +
		"\xe6" + text("binary_format_major_version") + "\xa1\x02" + text("binary_format_minor_version") + "\xa1\x00" +
		text("ip_version") + "\xa1\x04" + text("record_size") + "\xa1\x18" + text("node_count") + "\xc1\x01" +
		text("database_type") + text("Test"))
	d, err := parseDatabase(content)
	if err != nil {
		t.Fatal(err)
	}
	table := mustNew(t, Sources{Regions: regions, DefaultRegion: "us", Database: d,
		Mappings: []Mapping{{CIDR: netip.MustParsePrefix("2001:db8::/32"), Region: "eu"}}})
	for client, want := range map[string]struct {
		region string
		match  MatchType
	}{
		"192.0.2.1": {"uk", ByCountry}, "2002:c000:201::1": {"uk", ByCountry},
		"2001:db8::1": {"eu", ByCustomMapping}, "2a00::1": {"us", ByDefault},
	} {
		a := netip.MustParseAddr(client)
		id, _ := table.Locate(a)
		e, err := table.Explain(a)
		if err != nil || e.Region != want.region || e.Match != want.match || table.RegionName(id) != want.region {
			t.Errorf("%s: located in %q, explained as %q by %s (%v), want %v", client, table.RegionName(id), e.Region, e.Match,
				err,
				want)
		}
	}
}

func TestNew_NamesWhatIsWrong(t *testing.T) {
	one := netip.MustParsePrefix("10.0.0.0/8")
	for want, s := range map[string]Sources{
		`default_region "mars": no such region`: {Regions: regions, DefaultRegion: "mars"},
		`custom mapping 10.0.0.0/8 to region "mars": no such region`: {Regions: regions,
			Mappings: []Mapping{{CIDR: one, Region: "mars"}}},
		`custom mapping 10.0.0.0/8: given twice`: {Regions: regions, Mappings: []Mapping{
			{CIDR: one, Region: "eu"}, {CIDR: netip.MustParsePrefix("10.9.0.0/8"), Region: "us"}}},
	} {
		if _, err := New(s); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestContinentOf_KnowsEachCountryOnce(t *testing.T) {
	seen := map[string]string{}
	for _, c := range continents {
		for i := 0; i < len(c.countries); i += 3 {
			code := c.countries[i : i+2]
			if other, twice := seen[code]; twice {
				t.Errorf("%s is in %s and %s", code, other, c.code)
			}
			seen[code] = c.code
			if got := continentOf(code); got != c.code {
				t.Errorf("%s is in %q, want %s", code, got, c.code)
			}
		}
	}
	if len(seen) != 250 { // ISO 3166-1 has 249; XK is Kosovo's user-assigned code
		t.Errorf("%d codes", len(seen))
	}
	if got := continentOf("ZZ") + continentOf("O ") + continentOf(""); got != "" {
		t.Errorf("unknown codes are in %q", got)
	}
}

// The country's continent by the table agrees with the continent in MaxMind's file.
func TestContinentOf_AgreesWithTheDatabase(t *testing.T) {
	d := mustRead(t, "GeoIP2-Country-Test.mmdb")
	for _, p := range d.records {
		if c := continentOf(p.Country); p.Country != "" && c != p.Continent {
			t.Errorf("%s is in %s, the database says %s", p.Country, c, p.Continent)
		}
	}
	if len(d.records) < 20 {
		t.Errorf("only %d places", len(d.records))
	}
}

func TestLocate_DoesNotAlloc(t *testing.T) {
	table := mustNew(t, Sources{Regions: regions, Database: mustRead(t, "GeoIP2-City-Test.mmdb")})
	a, b := netip.MustParseAddr("81.2.69.160"), netip.MustParseAddr("2001:218::1")
	if n := testing.AllocsPerRun(100, func() { table.Locate(a); table.Locate(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParseDatabase(f *testing.F) {
	f.Add([]byte("\xab\xcd\xefMaxMind.com"))
	f.Fuzz(func(t *testing.T, content []byte) {
		d, err := parseDatabase(content)
		if err != nil {
			return
		}
		if _, err := New(Sources{Regions: regions, Database: d}); err != nil {
			t.Errorf("was read but cannot be compiled: %v", err)
		}
	})
}

func BenchmarkLocate(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := Sources{Regions: regions}
	seen := map[netip.Prefix]bool{}
	for len(s.Mappings) < 300_000 {
		a := randomAddr(rng)
		p := netip.PrefixFrom(a, min(12+rng.IntN(13), a.BitLen())).Masked()
		if a.Is4() && !seen[p] {
			seen[p] = true
			s.Mappings = append(s.Mappings, Mapping{CIDR: p, Region: regions[rng.IntN(len(regions))].Name})
		}
	}
	table := mustNew(b, s)
	var clients [4096]netip.Addr
	for i := range clients {
		clients[i] = netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, rng.Uint32())))
	}
	b.Run(fmt.Sprintf("blocks=%d", len(table.v4.blocks)), func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			table.Locate(clients[i%len(clients)])
		}
	})
}

// largeDatabase returns the content of a database file with a million networks.
var largeDatabase = sync.OnceValue(func() []byte { return geotest.Database(geotest.Large(1_000_000)) })

// BenchmarkLarge measures loading a database with a million networks.
func BenchmarkLarge(b *testing.B) {
	content := largeDatabase()
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := parseDatabase(content); err != nil {
				b.Fatal(err)
			}
		}
	})
	d, err := parseDatabase(content)
	if err != nil {
		b.Fatal(err)
	}
	for _, locations := range []bool{false, true} {
		b.Run(fmt.Sprintf("compile/spots=%v", locations), func(b *testing.B) {
			for b.Loop() {
				mustNew(b, Sources{Regions: regions, DefaultRegion: "us", Database: d, WithLocations: locations})
			}
		})
	}
}
