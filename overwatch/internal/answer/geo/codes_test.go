package geo // inside: it uses newBuilder and continentOf

import (
	"errors"
	"net/netip"
	"testing"
)

// Fault 33.
func TestReadDatabase_RefusesOneWithoutPlaces(t *testing.T) {
	for file, want := range map[string]error{"GeoLite2-ASN-Test.mmdb": ErrNoLocations, "GeoLite2-Country-Test.mmdb": nil,
		"GeoIP2-City-Test.mmdb": nil} {
		if _, err := ReadDatabase("testdata/" + file); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", file, err, want)
		}
	}
}

// A region may contain a retired code. The code means its successor.
func TestNew_CodesOfRegionsMayBeRetired(t *testing.T) {
	b := newBuilder(Sources{Regions: []Region{{Name: "antilles", Countries: []string{"AN"}}, {Name: "balkans",
		Countries: []string{"cs"}}}})
	for country, want := range map[string]uint16{"CW": 0, "RS": 1} {
		if got := b.countries[country]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is in %v, want region %d", country, got, want)
		}
	}
	for code, want := range map[string]string{"EU": "EU", "AP": "AS", "AN": "NA", "CS": "EU", "YU": "EU", "A1": "",
		"": ""} {
		if got := continentOf(code); got != want {
			t.Errorf("%s is on %q, want %q", code, got, want)
		}
	}
	if _, err := New(Sources{Mappings: []Mapping{{CIDR: netip.MustParsePrefix("10.0.0.0/8"), Region: "x"}}}); err == nil {
		t.Error("a mapping to no region is accepted")
	}
}
