package definitions_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
)

// Stored references to regions may have another case than the region, as of a version before 0.9 or after an edit of
// the file. The joined configuration has the spelling of the region.
func TestJoin_ReferencesTakeTheSpellingOfTheirRegion(t *testing.T) {
	f, s := file(), set()
	f.Regions[0].Name, f.Domains[0].Regions, f.Overwatch.Geolocation.CustomMappings[0].Region = "Latam",
		[]string{"Latam"}, "Latam"
	delete(s.Regions, "eu")
	s.Domains["b.example"].Regions = []string{"LATAM", "AP", "latam"}
	s.Mappings["192.0.2.0/24"].Region = "latam"
	s.Settings[definitions.OverlayKey(definitions.OverDomain, "a.example")] =
		json.RawMessage(`{"fields":{"regions":["AP","latam"]}}`)
	s.Settings[definitions.OverlayKey(definitions.OverServer, "a.example:192.0.2.1:80")] =
		json.RawMessage(`{"fields":{"region":"lATAM"}}`)
	f.Regions = append(f.Regions, config.Region{Name: "us", Enabled: true, Servers: []config.Server{{Service: "a.example",
		Address: netip.MustParseAddr("192.0.2.1"), Port: 80}}})
	over, err := s.Over(f)
	if err != nil {
		t.Fatal(err)
	}
	joined := s.Join(over, definitions.NamesIn(f))
	want := map[string][]string{"a.example": {"ap", "Latam"}, "b.example": {"Latam", "ap"}}
	for d := range joined.AllDomains {
		if !slices.Equal(d.Regions, want[d.Name]) {
			t.Errorf("%s has the regions %q, want %q", d.Name, d.Regions, want[d.Name])
		}
	}
	for _, m := range joined.Overwatch.Geolocation.CustomMappings {
		if m.CIDR == netip.MustParsePrefix("192.0.2.0/24") && m.Region != "Latam" {
			t.Errorf("the mapping of the API has the region %q", m.Region)
		}
	}
	for server := range joined.StaticServers() {
		if server.Region != "Latam" {
			t.Errorf("the server with an overlay has the region %q", server.Region)
		}
	}
}
