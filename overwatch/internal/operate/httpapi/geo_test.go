package httpapi // inside: it shares world_test.go

import (
	"fmt"
	"net/netip"
	"testing"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

func TestGeo_SaysWhereAClientIsAndWhy(t *testing.T) {
	database, err := geo.ReadDatabase("../../answer/geo/testdata/GeoLite2-Country-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	office := netip.MustParsePrefix("10.1.0.0/16")
	table, err := geo.New(geo.Sources{
		Regions:       []geo.Region{{Name: "eu", Countries: []string{"GB"}}, {Name: "us"}},
		DefaultRegion: "us", Mappings: []geo.Mapping{{CIDR: office, Region: "eu", Comment: "office"}}, Database: database,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *Options) { o.Places = func() *geo.Table { return table } })
	w.cfg.Load().Overwatch.Geolocation.CustomMappings = []config.CustomMapping{
		{CIDR: office, Region: "eu", Comment: "office"}}

	for ip, want := range map[string]api.GeoTest{
		"10.1.2.3": {IP: "10.1.2.3", Region: "eu", MatchType: "custom_mapping", MatchedCIDR: "10.1.0.0/16",
			Comment: "office", ScopePrefix: 16},
		"10.2.2.3":    {IP: "10.2.2.3", Region: "us", MatchType: "default", ScopePrefix: 15},
		"81.2.69.142": {IP: "81.2.69.142", Region: "eu", MatchType: "country", Country: "GB", Continent: "EU"},
	} {
		got, err := w.client.GeoTest(t.Context(), ip)
		if want.MatchType == "country" {
			if got.MatchedCIDR == "" || got.ScopePrefix == 0 {
				t.Errorf("%s: %+v, want the database's network", ip, got)
			}
			want.MatchedCIDR, want.ScopePrefix = got.MatchedCIDR, got.ScopePrefix
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v (%v), want %+v", ip, got, err, want)
		}
	}
	for query, say := range map[string]string{"": "ip is missing", "?ip=here": "must be an IP address",
		"?address=10.0.0.1": "known are ip"} {
		w.wantError("geo test"+query, w.send("GET", "/api/v1/geo/test"+query, ""), 400, say)
	}
	list, err := w.client.GeoMappings(t.Context())
	want := []api.GeoMapping{{Mapping: config.CustomMapping{CIDR: office, Region: "eu", Comment: "office"},
		Source: api.GeoFromConfig}}
	if err != nil || list.Total != 1 || fmt.Sprint(list.Mappings) != fmt.Sprint(want) {
		t.Errorf("mappings %+v (%v)", list, err)
	}
}
