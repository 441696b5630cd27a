package geo // inside: it compares parts of a database with the library that reads it

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo/geotest"
)

// The search tree has the networks and records that maxminddb finds.
func TestSearchTree_AgreesWithTheLibrary(t *testing.T) {
	databases := map[string][]byte{"generated": geotest.Database(geotest.Large(20_000))}
	for _, file := range []string{"GeoIP2-City-Test.mmdb", "GeoIP2-Country-Test.mmdb", "GeoLite2-Country-Test.mmdb",
		"GeoLite2-ASN-Test.mmdb"} {
		content, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		databases[file] = content
	}
	for name, content := range databases {
		for _, bits := range []uint{24, 28, 32} {
			d, err := parseDatabase(resized(t, content, bits))
			if err != nil {
				t.Fatalf("%s with %d bits: %v", name, bits, err)
			}
			found := networksOf(t, d)
			n := 0
			for r := range d.reader.Networks() {
				n++
				want, err := decodeFields(r)
				if err != nil || r.Err() != nil {
					t.Fatal(err, r.Err())
				}
				got, ok := found[r.Prefix()]
				if !ok || got.Country != want.Country || got.Continent != want.Continent ||
					(got.Position == nil) != (want.Position == nil) || got.Position != nil && *got.Position != *want.Position {
					t.Fatalf("%s with %d bits: %s is at %+v (%v), want %+v", name, bits, r.Prefix(), got, ok, want)
				}
			}
			if n == 0 || n != len(found) {
				t.Errorf("%s with %d bits: %d networks, want %d", name, bits, len(found), n)
			}
		}
	}
}

// networksOf returns the networks of a database that have a record.
func networksOf(t *testing.T, d *Database) map[netip.Prefix]Record {
	found := map[netip.Prefix]Record{}
	visit := func(placeOf []uint32, prefixOf func(block) netip.Prefix) func(block) error {
		return func(n block) error {
			if n.value != 0 {
				found[prefixOf(n)] = d.records[placeOf[0]]
			}
			placeOf = placeOf[1:]
			return nil
		}
	}
	if err := d.tree.walk4(visit(d.recordOf4, prefix4)); err != nil {
		t.Fatal(err)
	}
	if err := d.tree.walk6(visit(d.recordOf6, prefix6)); err != nil {
		t.Fatal(err)
	}
	return found
}

// resized returns a database with references of another size.
func resized(t *testing.T, content []byte, bits uint) []byte {
	t.Helper()
	d, err := parseDatabase(content)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for node := range d.tree.nodes {
		left, right := d.tree.children(node)
		both := uint64(left)<<bits | uint64(right)
		if bits == 28 { // the highest four bits of both are in one octet
			both = uint64(left&0xffffff)<<32 | uint64(left>>24)<<28 | uint64(right)
		}
		out = append(out, binary.BigEndian.AppendUint64(nil, both)[8-bits/4:]...)
	}
	out = append(out, content[uint(d.tree.nodes)*d.tree.recordBits/4:]...)
	at := bytes.LastIndex(out, []byte("record_size"))
	size := int(out[at+11] & 31) // of the number behind the key and its control octet
	out[at+11+size] = byte(bits)
	return out
}

// Parts of tables agree with a slow search in random databases with random mappings.
func TestNew_AgreesWithTheDatabaseAndTheMappings(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d, err := parseDatabase(geotest.Database(randomNetworks(rng)))
		if err != nil {
			t.Fatal(err)
		}
		s := Sources{Regions: regions, DefaultRegion: "eu", Database: d}
		seen := map[netip.Prefix]bool{}
		for range rng.IntN(30) {
			a := randomAddr(rng)
			p := canonical(netip.PrefixFrom(a, rng.IntN(a.BitLen()+1)))
			if !seen[p] {
				seen[p] = true
				s.Mappings = append(s.Mappings, Mapping{CIDR: p, Region: regions[rng.IntN(len(regions))].Name})
			}
		}
		table := mustNew(t, s)
		for range 3000 {
			a := randomAddr(rng)
			id, _ := table.Locate(a)
			if want := reference(t, table, a); table.RegionName(id) != want {
				t.Fatalf("seed %d: %s is in %q, want %q", seed, a, table.RegionName(id), want)
			}
		}
	}
}

// A record of a network that contains ::/96 is the record of all IPv4 addresses.
func TestLocate_ARecordAboveTheIPv4AddressesPlacesThem(t *testing.T) {
	d, err := parseDatabase(geotest.Database([]geotest.Network{
		{CIDR: netip.MustParsePrefix("::/3"), Record: geotest.Located("GB", "", 0, 0)}}))
	if err != nil {
		t.Fatal(err)
	}
	table := mustNew(t, Sources{Regions: regions, DefaultRegion: "us", Database: d})
	for client, want := range map[string]string{
		"192.0.2.1": "uk", "64:ff9b::192.0.2.1": "uk", "1::1": "uk", "2a00::1": "us",
	} {
		id, _ := table.Locate(netip.MustParseAddr(client))
		if e, err := table.Explain(netip.MustParseAddr(client)); table.RegionName(id) != want || e.Region != want ||
			err != nil {
			t.Errorf("%s is in %q, explained as %q (%v), want %q", client, table.RegionName(id), e.Region, err, want)
		}
	}
}

func TestParseDatabase_RejectsASearchTreeWithoutAnEnd(t *testing.T) {
	content := geotest.Database([]geotest.Network{
		{CIDR: netip.MustParsePrefix("2a00::/16"), Record: geotest.Located("GB", "", 0, 0)}})
	copy(content[:8], make([]byte, 8)) // both references of the first node are the node itself
	if _, err := parseDatabase(content); err == nil {
		t.Error("the database was read")
	}
}

func TestPlaceOfRecord_AcceptsBothLayoutsAndMixedOnes(t *testing.T) {
	code := func(key, value string) map[string]any { return map[string]any{key: value} }
	for name, c := range map[string]struct {
		record map[string]any
		want   Record
	}{
		"nested": {map[string]any{"country": code("iso_code", "gb"), "continent": code("code", "eu")},
			Record{"GB", "EU", nil}},
		"flat":      {map[string]any{"country": "us", "continent": "na"}, Record{"US", "NA", nil}},
		"codes":     {map[string]any{"country": "ignored", "country_code": "JP"}, Record{"JP", "AS", nil}},
		"mixed":     {map[string]any{"country": code("iso_code", "DE"), "continent": "EU"}, Record{"DE", "EU", nil}},
		"mistyped":  {map[string]any{"country": 1.5, "continent_code": "AF"}, Record{"", "AF", nil}},
		"unrelated": {map[string]any{"network": "AS1"}, Record{}},
	} {
		d, err := parseDatabase(geotest.Database([]geotest.Network{
			{CIDR: netip.MustParsePrefix("2a00::/16"), Record: c.record}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := d.records[1]; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
