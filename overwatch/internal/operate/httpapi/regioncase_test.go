package httpapi // inside: it uses the world of the package's tests

import (
	"testing"

	"gslb.internal/shared/api"
)

// A version before 0.9 gave the region "name: Latam, code: latam" the id Latam.
func TestRegions_AreComparedWithoutCase(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: api.Document{Regions: []api.DocumentRegion{{"id": "Latam", "name": "Latam"}}}}, 1)
	again := api.Document{Regions: []api.DocumentRegion{{"name": "Latam", "code": "latam"}},
		Mappings: []api.DocumentMapping{{"cidr": "198.51.100.0/24", "region": "LATAM"}}}
	w.apply(api.ApplyRequest{Document: again}, 2) // the code of the region, and the mapping
	w.apply(api.ApplyRequest{Document: again}, 0)
	regions, err := w.client.Regions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, r := range regions.Regions {
		if r.Code == "latam" {
			count++
		}
		if r.ID == "latam" {
			t.Errorf("there is a second region: %+v", r)
		}
	}
	if count != 1 {
		t.Errorf("%d regions have the code latam, want one: %+v", count, regions.Regions)
	}
	w.wantError("a second region", w.send("POST", "/api/v1/regions", `{"name":"latam"}`), 400, "Latam exists already")
	if r := w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"203.0.113.0/24","region":"latam"}`); r.status/100 != 2 {
		t.Errorf("a mapping to latam: %+v", r)
	}
	if r := w.send("GET", "/api/v1/regions/LATAM", ""); r.status != 200 {
		t.Errorf("GET of LATAM: %+v", r)
	}
}
