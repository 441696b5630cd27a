package api_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// geoName is steered by where clients are.
const geoName = "geo.test.gslb.test"

func ptr[T any](v T) *T { return &v }

// An API definition is in the answers when the call returns. It survives SIGKILL and a restart of the node, and a
// reload of the file does not change it.
func TestDefined_IsInForceAtOnceAndSurvivesAKill(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n := s.Nodes[0]
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := n.Client.CreateRegion(t.Context(), api.RegionChange{"name": "ap", "continent": "AS"})
	must(err)
	_, err = n.Client.CreateDomain(t.Context(), api.DomainChange{"name": geoName, "routing_algorithm": "geolocation",
		"regions": []string{"eu", "ap"}})
	must(err)
	for region, address := range map[string]string{"eu": "192.0.2.1", "ap": "192.0.2.2"} {
		_, err = n.Client.CreateServer(t.Context(),
			api.ServerChange{"service": geoName, "address": address, "port": 80, "region": region})
		must(err)
		_, err = n.Client.SetOverride(t.Context(), geoName, address, api.OverrideRequest{Healthy: ptr(true),
			Reason: "test"})
		must(err)
	}
	for _, region := range []string{"ap", "eu", "ap"} {
		_, err = n.Client.PutGeoMapping(t.Context(), api.GeoMappingChange{"cidr": "127.0.0.0/8", "region": region})
		must(err)
		must(answersFrom(t, n, region))
	}
	_, err = n.Client.ChangeDNSConfig(t.Context(), api.DNSConfigChange{DefaultTTL: ptr(44)})
	must(err)
	must(hasTTL(t, n, 44))
	_, err = n.Client.ChangeLoggingConfig(t.Context(), api.LoggingConfigChange{Level: ptr("debug")})
	must(err)
	seeds, err := n.Client.ChangeGossipSettings(t.Context(), api.GossipConfigChange{GossipIntervalMS: ptr(150)})
	if must(err); len(seeds.RestartRequired) != 1 || seeds.RestartRequired[0] != "overwatch.gossip" {
		t.Errorf("gossip: %+v", seeds)
	}
	_, err = n.Client.ChangePreferences(t.Context(), api.PreferencesChange{Theme: ptr("dark")})
	must(err)
	_, err = n.Client.AnnounceAgent(t.Context(), api.AgentRegistration{Name: "soon"})
	must(err)
	drained := geoName + ":192.0.2.1:80"
	_, err = n.Client.DrainServer(t.Context(), drained, api.DrainRequest{Duration: "1h"})
	must(err)
	testbed.Kill(t, n)
	testbed.Start(t, n)
	testbed.Until(t, testbed.StartBound, "what was defined",
		func(ctx context.Context) error { return stillDefined(t, ctx, n, drained) })
	testbed.HangUp(t, n)
	must(stillDefined(t, t.Context(), n, drained))
	if g, err := n.Client.GossipSettings(t.Context()); err != nil || g.Config.GossipIntervalMS != 150 ||
		len(g.RestartRequired) != 0 {
		t.Errorf("gossip after the restart: %+v, %v", g, err)
	}
	must(n.Client.ResetConfig(t.Context(), "dns"))
	must(n.Client.DeleteGeoMapping(t.Context(), "127.0.0.0/8"))
	if err := hasTTL(t, n, 44); err == nil {
		t.Error("the file's TTL does not count again")
	}
	if where, err := n.Client.GeoTest(t.Context(), "127.0.0.1"); err != nil || where.Region != "" {
		t.Errorf("a deleted mapping: %+v, %v", where, err)
	}
}

func stillDefined(t *testing.T, ctx context.Context, n *harness.Node, drained string) error {
	if r, err := n.Client.Region(ctx, "ap"); err != nil || r.Continent != "AS" || r.ServerCount != 1 {
		return fmt.Errorf("region: %+v, %w", r, err)
	}
	if err := answersFrom(t, n, "ap"); err != nil {
		return err
	}
	if err := hasTTL(t, n, 44); err != nil {
		return err
	}
	if l, err := n.Client.LoggingConfig(ctx); err != nil || l.Config.Level != "debug" {
		return fmt.Errorf("logging: %+v, %w", l, err)
	}
	if p, err := n.Client.Preferences(ctx); err != nil || p.Preferences.Theme != "dark" {
		return fmt.Errorf("preferences: %+v, %w", p, err)
	}
	if l, err := n.Client.AgentNodes(ctx); err != nil || l.Total != 2 {
		return fmt.Errorf("agents: %+v, %w", l, err)
	}
	list, err := n.Client.Servers(ctx)
	if err != nil {
		return err
	}
	for _, server := range list.Servers {
		if server.ID == drained && !server.Draining {
			return fmt.Errorf("%s is not draining", drained)
		}
	}
	return nil
}

// answersFrom checks that the node answers with the address of a region.
func answersFrom(t *testing.T, n *harness.Node, region string) error {
	want := map[string]netip.Addr{"eu": netip.MustParseAddr("192.0.2.1"),
		"ap": netip.MustParseAddr("192.0.2.2")}[region]
	r := testbed.Exchange(t, "udp", n, geoName, dns.TypeA)
	if len(r.Answer) != 1 {
		return fmt.Errorf("%s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
	}
	if a, ok := r.Answer[0].(*dns.A); !ok || a.A.String() != want.String() {
		return fmt.Errorf("the answer for %s is %s", region, r.Answer[0])
	}
	return nil
}

func hasTTL(t *testing.T, n *harness.Node, ttl uint32) error {
	r := testbed.Exchange(t, "udp", n, geoName, dns.TypeA)
	if len(r.Answer) != 1 || r.Answer[0].Header().Ttl != ttl {
		return fmt.Errorf("the TTL is not %d: %v", ttl, r.Answer)
	}
	return nil
}
