package geo_test

import (
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo"
)

func TestNear_IsTheNearestNetworkWithAPosition(t *testing.T) {
	cities, err := geo.ReadDatabase("testdata/GeoIP2-City-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	table, err := geo.New(geo.Sources{Regions: []geo.Region{{Name: "eu"}}, Database: cities})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		where   string
		place   geo.Position
		country string
		within  float64 // kilometres
	}{
		{"London", geo.Position{Latitude: 51.5, Longitude: -0.1}, "GB", 111},
		{"Stockholm", geo.Position{Latitude: 59.3, Longitude: 18.1}, "SE", 300},
		{"the sea off Boston", geo.Position{Latitude: 42, Longitude: -65}, "US", 3000},
		{"the south pole", geo.Position{Latitude: -90, Longitude: 180}, "", 12000},
	} {
		near, ok := table.FindNearby(c.place)
		if !ok || near.Kilometres > c.within || !near.Network.IsValid() {
			t.Errorf("%s: %+v, %t, want a network within %.0f km", c.where, near, ok, c.within)
		}
		e, err := table.Explain(near.Network.Addr())
		if err != nil || c.country != "" && e.Record.Country != c.country || *e.Record.Position != near.Position {
			t.Errorf("%s: %s is in %+v (%v), want %s at %v", c.where, near.Network, e.Record, err, c.country, near.Position)
		}
	}

	countries, err := geo.ReadDatabase("testdata/GeoIP2-Country-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []geo.Sources{{Database: countries},
		{Mappings: []geo.Mapping{{CIDR: netip.MustParsePrefix("10.0.0.0/8"),
			Region: "eu"}}}} {
		s.Regions = []geo.Region{{Name: "eu"}}
		table, err := geo.New(s)
		if err != nil {
			t.Fatal(err)
		}
		if near, ok := table.FindNearby(geo.Position{}); ok {
			t.Errorf("without positions: %+v", near)
		}
	}
}
