package publish // inside: it shares publisher_test.go

import (
	"context"
	"math"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/geo/geotest"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// sharedRegions returns the settings of two services: app without servers in de, and web with servers there.
func sharedRegions(t *testing.T, algorithm string, listed ...string) (*backends, Settings) {
	t.Helper()
	path := t.TempDir() + "/country.mmdb"
	if err := os.WriteFile(path, geotest.Database([]geotest.Network{
		{CIDR: netip.MustParsePrefix("198.51.100.0/24"), Record: geotest.Located("DE", "EU", 52.5, 13.4)},
		{CIDR: netip.MustParsePrefix("203.0.113.0/24"), Record: geotest.Located("FR", "EU", 48.9, 2.4)},
	}), 0o600); err != nil {
		t.Fatal(err)
	}
	database, err := geo.ReadDatabase(path)
	if err != nil {
		t.Fatal(err)
	}
	s := testSettings()
	s.Domains = []config.Domain{{Name: "app.gslb.test", RoutingAlgorithm: algorithm, TTL: 10, Regions: listed},
		{Name: "web.gslb.test", RoutingAlgorithm: algorithm, TTL: 10}}
	sources := geo.Sources{DefaultRegion: "us", Database: database, WithLocations: algorithm == "proximity",
		Regions: []geo.Region{{Name: "us", Continents: []string{"NA"}}, {Name: "eu", Continents: []string{"EU"}},
			{Name: "de", Countries: []string{"DE"}}},
		Mappings: []geo.Mapping{{CIDR: netip.MustParsePrefix("203.0.113.128/25"), Region: "de"},
			{CIDR: netip.MustParsePrefix("203.0.113.192/26"), Region: "us"},
			{CIDR: netip.MustParsePrefix("192.0.2.0/24"), Region: "de"}}}
	for _, r := range sources.Regions {
		s.Regions = append(s.Regions, config.Region{Name: r.Name, Enabled: true, Countries: r.Countries,
			Continents: r.Continents})
	}
	if s.Places, err = geo.New(sources); err != nil {
		t.Fatal(err)
	}
	b := new(backends)
	b.set("app.gslb.test", "10.0.0.1", "10.0.0.2")
	b.set("web.gslb.test", "10.0.0.1", "10.0.0.2", "10.0.0.3")
	for _, service := range []string{"app.gslb.test", "web.gslb.test"} {
		for i, backend := range b.data[service] {
			backend.Region = []string{"us", "eu", "de"}[i]
		}
	}
	return b, s
}

// sentTo returns the region of the selected backend for a client, and checks that the explanation agrees.
func sentTo(t *testing.T, view *zone.View, name, client string) string {
	t.Helper()
	address := netip.MustParseAddr(client)
	r := view.Resolve(name+".", dns.TypeA, false, address, zone.NewRotations(1, 1))
	if len(r.Answer) == 0 {
		t.Fatalf("%s has no answer for %s", name, client)
	}
	got := map[string]string{"10.0.0.1": "us", "10.0.0.2": "eu", "10.0.0.3": "de"}[r.Answer[0].(*dns.A).A.String()]
	e, err := explain.Explain(view, explain.Query{Name: name, Family: policy.IPv4, Client: address})
	if err != nil || e.Region != got || e.Decision.Region != got || e.Place.Region != got {
		t.Errorf("%s: %s is sent to %s, explained as a client in %q (%q) who is sent to %s: %v", name, client, got, e.Region,
			e.Place.Region, e.Decision.Region, err)
	}
	return got
}

func TestGeolocation_ClientsAreInRegionsOfTheNameItself(t *testing.T) {
	const german, french, mappedGerman, mappedAmerican, unknownMapped = "198.51.100.7", "203.0.113.7", "203.0.113.130",
		"203.0.113.200", "192.0.2.7"
	for _, algorithm := range []string{"geolocation", "proximity"} {
		for name, listed := range map[string][]string{"without regions": nil, "with regions": {"us", "eu"}} {
			t.Run(algorithm+" "+name, func(t *testing.T) {
				b, s := sharedRegions(t, algorithm, listed...)
				view := newPublisher(t, b, s).View()
				for client, want := range map[string][2]string{german: {"eu", "de"}, french: {"eu", "eu"},
					mappedGerman: {"eu", "de"}, mappedAmerican: {"us", "us"}, unknownMapped: {"us", "de"}} {
					for i, name := range []string{"app.gslb.test", "web.gslb.test"} {
						if got := sentTo(t, view, name, client); got != want[i] {
							t.Errorf("%s: %s is sent to %s, want %s", name, client, got, want[i])
						}
					}
				}
			})
		}
	}
}

func TestShifts_ClientsOfANewRegionWereInAnother(t *testing.T) {
	b, s := sharedRegions(t, "geolocation")
	before := newPublisher(t, b, s).View()
	b.replace("app.gslb.test", append(b.Service("app.gslb.test"), b.Service("web.gslb.test")[2]))
	after := newPublisher(t, b, s).View()
	shifts, err := explain.Shifts(before, after, "app.gslb.test", policy.IPv4)
	if err != nil {
		t.Fatal(err)
	}
	for _, shift := range shifts {
		switch shift.Region {
		case "de": // eu was first in one of their rankings, and us in the other
			if from := shift.Moves[explain.Move{From: "eu", To: "de"}]; math.Abs(from-.5) > 1e-9 || shift.Elsewhere < .99 {
				t.Errorf("clients in de: %+v", shift)
			}
		case "eu", "us":
			if shift.Differs() {
				t.Errorf("clients in %s: %+v", shift.Region, shift)
			}
		}
	}
	if len(shifts) != 4 {
		t.Errorf("clients in %d regions, want eu, us, de and none", len(shifts))
	}
}

func TestGeolocation_ANewRegionOfTheNameTakesItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := sharedRegions(t, "geolocation")
		p := newPublisher(t, b, s)
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		third := *b.Service("web.gslb.test")[2]
		third.ID.Service = "app.gslb.test"
		b.replace("app.gslb.test", append([]*registry.Backend{&third}, b.Service("app.gslb.test")...))
		p.Mark("app.gslb.test")
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if got := sentTo(t, p.View(), "app.gslb.test", "198.51.100.7"); got != "de" {
			t.Errorf("with a backend in de, a German client is sent to %s", got)
		}
		// A change of only the default region changes the rankings, and therefore the numbers of the client regions.
		sources := geo.Sources{DefaultRegion: "de", Regions: []geo.Region{{Name: "us"}, {Name: "eu"}, {Name: "de"}}}
		var err error
		if s.Places, err = geo.New(sources); err != nil {
			t.Fatal(err)
		}
		if err := p.Reconfigure(ctx, s, nil); err != nil {
			t.Fatal(err)
		}
		if got := sentTo(t, p.View(), "app.gslb.test", "203.0.113.7"); got != "de" {
			t.Errorf("with the default region de, a client is sent to %s", got)
		}
		stop()
		synctest.Wait()
	})
}

// An agent may use other letter case for its region than the configuration.
func TestGeolocation_RegionsOfBackendsAreComparedWithoutCase(t *testing.T) {
	b, s := sharedRegions(t, "geolocation", "us", "eu")
	for _, backend := range b.Service("app.gslb.test") {
		backend.Region = strings.ToUpper(backend.Region)
	}
	r := newPublisher(t, b, s).View().Resolve("app.gslb.test.", dns.TypeA, false, netip.MustParseAddr("198.51.100.7"),
		zone.NewRotations(1, 1))
	if len(r.Answer) != 1 || r.Answer[0].(*dns.A).A.String() != "10.0.0.2" {
		t.Errorf("a German client is answered %v, want the backend in EU", r.Answer)
	}
}
