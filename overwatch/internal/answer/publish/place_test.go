package publish // inside: it looks at decide and domains

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/answer/geo/geotest"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/config"
)

// placedSettings returns settings with two backends in each of three regions, and client networks in Paris, in New York
// and without a position.
func placedSettings(t *testing.T, domain config.Domain) (*backends, Settings) {
	t.Helper()
	degrees := func(f float64) *float64 { return &f }
	s := testSettings()
	domain.Name, domain.TTL, domain.Regions = "app.gslb.test", 10, []string{"us", "fra", "ams"}
	domain.ClientHash = config.ClientHash{IPv4Prefix: 24, IPv6Prefix: 56}
	s.Domains = []config.Domain{domain}
	s.Regions = []config.Region{
		{Name: "fra", Enabled: true, Latitude: degrees(50.11), Longitude: degrees(8.68)},
		{Name: "ams", Enabled: true, Latitude: degrees(52.37), Longitude: degrees(4.90)},
		{Name: "us", Enabled: true, Latitude: degrees(40.71), Longitude: degrees(-74.01)},
	}
	s.Places = placesWith(t, s.Regions, "198.51.100.0/24 48.86 2.35", "203.0.113.0/24 40.7 -74")
	b := new(backends)
	b.set("app.gslb.test", "10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2", "10.0.2.1", "10.0.2.2")
	for i, backend := range b.data["app.gslb.test"] {
		backend.Region = s.Regions[i/2].Name
	}
	return b, s
}

// placesWith returns a location table with a database of networks and their positions.
func placesWith(t *testing.T, regions []config.Region, lines ...string) *geo.Table {
	t.Helper()
	sources := geo.Sources{WithLocations: true}
	for _, r := range regions {
		sources.Regions = append(
			sources.Regions,
			geo.Region{Name: r.Name, Position: &geo.Position{Latitude: *r.Latitude, Longitude: *r.Longitude}},
		)
	}
	var networks []geotest.Network
	for _, line := range lines {
		var cidr string
		var latitude, longitude float64
		fmt.Sscan(line, &cidr, &latitude, &longitude)
		networks = append(
			networks,
			geotest.Network{CIDR: netip.MustParsePrefix(cidr), Record: geotest.Located("", "", latitude, longitude)},
		)
	}
	path := t.TempDir() + "/city.mmdb"
	if err := os.WriteFile(path, geotest.Database(networks), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if sources.Database, err = geo.ReadDatabase(path); err != nil {
		t.Fatal(err)
	}
	table, err := geo.New(sources)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// answered returns the addresses in the answers to several queries of a client.
func answered(p *Publisher, client string) string {
	var found []string
	turns := zone.NewRotations(1, 1)
	for range 12 {
		r := p.View().Resolve("app.gslb.test.", dns.TypeA, false, netip.MustParseAddr(client), turns)
		for _, rr := range r.Answer {
			if a := strings.TrimPrefix(rr.(*dns.A).A.String(), "10.0."); !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// audiences returns the addresses of each group of clients.
func audiences(t *testing.T, p *Publisher) (found []string) {
	t.Helper()
	list, err := p.View().ClientGroups("app.gslb.test", policy.IPv4)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		var addresses []string
		for _, due := range a.Input.Decide(policy.IPv4, a.ClientLocation()).Members {
			addresses = append(addresses, strings.TrimPrefix(due.Address.String(), "10.0."))
		}
		found = append(found, strings.Join(addresses, " "))
	}
	return found
}

func TestProximity_FollowsHealthConfigurationAndTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const paris, newYork, nowhere = "198.51.100.7", "203.0.113.7", "192.0.2.1"
		b, s := placedSettings(t, config.Domain{RoutingAlgorithm: "proximity", FallbackAlgorithm: "client-hash"})
		p := newPublisher(t, b, s)
		ctx, stop := context.WithCancel(t.Context())
		go p.Run(ctx)
		want := func(what string, answers ...string) {
			t.Helper()
			for i, client := range []string{paris, newYork} {
				if got := answered(p, client); got != answers[i] {
					t.Errorf("%s: %s is answered %q, want %q", what, client, got, answers[i])
				}
				if all := audiences(t, p); !slices.Contains(all, answers[i]) {
					t.Errorf("%s: the audiences are answered %q, %s is not among them", what, all, client)
				}
			}
			if got := answered(p, nowhere); strings.Contains(got, " ") {
				t.Errorf("%s: a client nowhere is answered %q, want always the same by its hash", what, got)
			}
		}
		want("the nearest", "1.1 1.2", "2.1 2.2")
		healthy := b.Service("app.gslb.test")
		down := *healthy[2]
		down.MayServe = false
		b.replace("app.gslb.test", slices.Concat(healthy[:2], []*registry.Backend{&down}, healthy[3:]))
		p.Mark("app.gslb.test")
		if err := p.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		want("one of the nearest down", "1.2", "2.1 2.2")
		s.Domains = slices.Clone(s.Domains)
		s.Domains[0].Proximity.ToleranceKm = 100
		if err := p.Reconfigure(ctx, s, nil); err != nil {
			t.Fatal(err)
		}
		want("within the tolerance", "0.1 0.2 1.2", "2.1 2.2")
		s.Regions = slices.Clone(s.Regions)
		s.Regions[2].ProximityBias, s.Regions[1].RoutingAlgorithm = -90, "client-hash"
		if err := p.Reconfigure(ctx, s, nil); err != nil {
			t.Fatal(err)
		}
		if got := answered(p, paris); strings.Contains(got, " ") {
			t.Errorf("a pool that hashes: %q", got)
		}
		s.Places = placesWith(t, s.Regions, "198.51.100.0/24 40.7 -74")
		if err := p.Reconfigure(ctx, s, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := answered(p, paris); got != "2.1 2.2" {
			t.Errorf("another database: %q", got)
		}
		stop()
		synctest.Wait()
	})
}

func TestClientHash_AClientKeepsItsBackendWhileItServes(t *testing.T) {
	b, s := placedSettings(t, config.Domain{RoutingAlgorithm: "client-hash", MaxAnswers: 2})
	s.Domains[0].MaxAnswers = 2
	p := newPublisher(t, b, s)
	lead := func(client netip.Addr) string {
		r := p.View().Resolve("app.gslb.test.", dns.TypeA, false, client, zone.NewRotations(1, 1))
		if len(r.Answer) != 2 || r.Scope != 24 {
			t.Fatalf("%d addresses with scope %d", len(r.Answer), r.Scope)
		}
		return r.Answer[0].(*dns.A).A.String()
	}
	before := map[netip.Addr]string{}
	for i := range 600 {
		client := netip.AddrFrom4([4]byte{198, byte(i >> 8), byte(i), 7})
		before[client] = lead(client)
	}
	all := b.Service("app.gslb.test")
	b.replace("app.gslb.test", slices.Concat(all[:2], all[3:])) // 10.0.1.1 was removed
	p.decide(p.View(), p.domains["app.gslb.test"])
	moved := 0
	for client, was := range before {
		is := lead(client)
		if was != is {
			moved++
		}
		if (was != is) != (was == "10.0.1.1") {
			t.Fatalf("%s went from %s to %s", client, was, is)
		}
	}
	if moved < 60 || moved > 140 {
		t.Errorf("%d of 600 clients moved, want about a sixth", moved)
	}
}
