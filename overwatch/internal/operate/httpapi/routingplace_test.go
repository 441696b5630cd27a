package httpapi // inside: it shares world_test.go

import (
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/shared/api"
)

func TestRoutingTest_AsksFromAPlace(t *testing.T) {
	cities, err := geo.ReadDatabase("../../answer/geo/testdata/GeoIP2-City-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	table, err := geo.New(geo.Sources{Regions: []geo.Region{{Name: "eu"}}, Database: cities})
	if err != nil {
		t.Fatal(err)
	}
	w := geoWorld(t, func(o *Options) { o.Places = func() *geo.Table { return table } })
	test, err := w.client.TestRouting(t.Context(), api.RoutingTestRequest{Domain: "geo.test",
		Place: &api.Place{Latitude: 51.5, Longitude: -0.1}})
	r := test.Result
	if err != nil || r.Nearby == nil || r.Decision != api.RoutingSuccess {
		t.Fatalf("%+v (%v)", r, err)
	}
	e, err := table.Explain(netip.MustParseAddr(r.ClientIP))
	if err != nil || e.Record.Country != "GB" || r.Nearby.Kilometres > 100 ||
		r.Nearby.Latitude != e.Record.Position.Latitude {
		t.Errorf("asked by %s %+v, of %+v (%v)", r.ClientIP, *r.Nearby, e.Record, err)
	}
	for place, words := range map[string]string{
		`{"latitude": 51.5}`:                            "place.longitude must be",
		`{"longitude": 1}`:                              "place.latitude must be",
		`{"latitude": 90.1, "longitude": 1}`:            "from -90 to 90",
		`{"latitude": 9, "longitude": -181}`:            "from -180 to 180",
		`{"latitude": 9, "longitude": 1, "country": 1}`: "unknown fields",
		`"London"`: "object",
		`{"latitude": 9, "longitude": 1}, "client_ip": "192.0.2.1"`: "both given",
	} {
		w.wantError(place, w.send("POST", "/api/v1/routing/test", `{"domain": "geo.test", "place": `+place+`}`), 400, words)
	}
	without := geoWorld(t)
	without.wantError("no database", without.send("POST", "/api/v1/routing/test",
		`{"domain": "geo.test", "place": {"latitude": 1, "longitude": 1}}`), 400, "overwatch.geolocation.database_path")
}
