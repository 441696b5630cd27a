// Package console_test tests the console of real nodes in a real browser.
package console_test

import (
	"net/netip"
	"os"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

func TestMain(m *testing.M) { os.Exit(testbed.Main(m)) }

// The names of the scene: the first uses the client location, the second weights, and the third failover to a second
// region.
const (
	shopName = "shop.test.gslb.test"
	apiName  = "api.test.gslb.test"
	webName  = "web.test.gslb.test"
)

// scene contains two nodes, and five backends with agents in three regions.
type scene struct {
	*harness.Cluster
	nodes    []*harness.Node
	backends []*harness.Backend
	agents   []*harness.Agent
}

// newScene prepares a scene. It starts no program.
func newScene(t *testing.T) *scene {
	t.Helper()
	regions := []string{"eu", "us", "asia"}
	names := []harness.Domain{
		{Name: shopName, RoutingAlgorithm: "geolocation", Regions: regions, TTL: 5,
			HTTPS: harness.HTTPS{ALPN: []string{"h2"}}},
		{Name: apiName, RoutingAlgorithm: "weighted", Regions: regions, TTL: 5},
		{Name: webName, RoutingAlgorithm: "failover", Regions: []string{"us", "eu"}, TTL: 5},
	}
	s := &scene{Cluster: testbed.NewCluster(t, harness.Fast(), names...)}
	for _, name := range []string{"ow-eu", "ow-us"} {
		n := testbed.AddNode(t, s.Cluster, name, name[len("ow-"):], nil)
		n.File.DNS.Zones = []string{"test.gslb.test"}
		n.File.Overwatch.Geolocation.ECSEnabled = true
		n.File.Overwatch.Geolocation.CustomMappings = []harness.Mapping{
			{CIDR: netip.MustParsePrefix("198.51.100.0/24"), Region: "us"},
			{CIDR: netip.MustParsePrefix("203.0.113.0/24"), Region: "asia"},
			{CIDR: netip.MustParsePrefix("127.0.0.0/8"), Region: "eu"},
		}
		n.File.Regions = []harness.Region{
			{Name: "eu", Countries: []string{"GB", "DE"}, Latitude: 50.1, Longitude: 8.7},
			{Name: "us", Countries: []string{"US"}, Latitude: 39, Longitude: -77.5},
			{Name: "asia", Label: "Far East", Countries: []string{"JP"}, Latitude: 35.7, Longitude: 139.7},
		}
		n.File.Routing = &harness.Routing{DecisionSample: 1}
		s.nodes = append(s.nodes, n)
	}
	for i, n := range s.nodes {
		n.File.Overwatch.Gossip.Seeds = []string{s.nodes[1-i].Gossip.String()}
	}
	s.addBackends(t)
	return s
}

func (s *scene) addBackends(t *testing.T) {
	t.Helper()
	cast := []struct{ name, region, address string }{
		{"eu-1", "eu", "127.0.4.1"}, {"eu-2", "eu", "127.0.4.2"}, {"us-1", "us", "127.0.4.3"},
		{"us-2", "us", "127.0.4.4"}, {"asia-1", "asia", "127.0.4.5"},
	}
	at := map[string]netip.Addr{}
	for _, c := range cast {
		at[c.name] = netip.MustParseAddr(c.address)
	}
	backends, err := s.AddBackends(at)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cast {
		b := backends[c.name]
		watched := harness.AgentBackend{Address: b.At.Addr(), Port: b.At.Port(), Weight: 10 * (i + 1),
			HealthCheck: s.Timing.Check()}
		var list []harness.AgentBackend
		for _, name := range []string{shopName, apiName, webName} {
			if watched.Service = name; name != webName || c.region != "asia" {
				list = append(list, watched)
			}
		}
		a, err := s.AddAgent("agent-"+c.name, c.region, s.nodes, list)
		if err != nil {
			t.Fatal(err)
		}
		s.backends, s.agents = append(s.backends, b), append(s.agents, a)
	}
}

// startScene starts a scene and waits until both nodes serve every backend.
func startScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	s.start(t)
	return s
}

func (s *scene) start(t *testing.T) {
	t.Helper()
	for _, b := range s.backends {
		testbed.Start(t, b)
	}
	for _, n := range s.nodes {
		testbed.Start(t, n)
	}
	for _, a := range s.agents {
		testbed.Start(t, a)
	}
	for _, n := range s.nodes {
		s.allHealthy(t, n)
	}
}
