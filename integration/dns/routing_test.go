package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// routedSite is a node that checks three backends: b1 in eu, b2 and b3 in us, each for all five names. It has a
// database of cities.
type routedSite struct {
	*site
	node     *harness.Node
	database string
}

// routedNames are the names by their algorithm.
var routedNames = []string{"geolocation", "failover", "latency", "client-hash", "proximity"}

func routedName(algorithm string) string { return algorithm + ".test.gslb.test" }

func startRouted(t *testing.T) *routedSite {
	t.Helper()
	s := newSite(t, 0, 3)
	r := &routedSite{site: s, database: filepath.Join(s.Dir, "city.mmdb")}
	r.replace(t, "GeoIP2-City-Test.mmdb")
	var err error
	if r.node, err = s.AddNode("ow-1", "eu", map[string][]harness.Server{"eu": nil, "us": nil}); err != nil {
		t.Fatal(err)
	}
	f := &r.node.File
	f.DNS.Zones = []string{"test.gslb.test"}
	f.Overwatch.Geolocation = harness.Geolocation{DatabasePath: r.database, ECSEnabled: true}
	f.Domains = nil
	check := s.Timing.Check()
	check.Interval, check.Timeout = 500*time.Millisecond, 500*time.Millisecond
	for _, algorithm := range routedNames {
		f.Domains = append(f.Domains, harness.Domain{Name: routedName(algorithm), RoutingAlgorithm: algorithm,
			Regions: []string{"eu", "us"}, TTL: 5})
		for i, b := range s.Backends {
			region := &f.Regions[min(i, 1)]
			region.Servers = append(region.Servers, harness.Server{
				Service: routedName(algorithm), Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: check,
			})
		}
	}
	f.Overwatch.AgentTokens = nil
	f.Regions[0].Countries, f.Regions[0].Latitude, f.Regions[0].Longitude = []string{"GB"}, 51.5, -0.1
	f.Regions[1].Countries, f.Regions[1].Latitude, f.Regions[1].Longitude = []string{"US"}, 47.6, -122.3
	for _, b := range s.Backends {
		testbed.Start(t, b)
	}
	testbed.Start(t, r.node)
	s.Ready(t, r.node)
	s.Nodes = []*harness.Node{r.node}
	for _, name := range routedNames {
		r.answers(t, name, testbed.ClientLondon, map[string]string{"geolocation": "b1", "failover": "b1",
			"proximity": "b1"}[name], 0)
	}
	return r
}

// replace replaces the database file, as an update does.
func (r *routedSite) replace(t *testing.T, file string) {
	t.Helper()
	content := testbed.Read(t, testbed.Databases+file)
	testbed.Write(t, r.database+".new", 0o600, content)
	if err := os.Rename(r.database+".new", r.database); err != nil {
		t.Fatal(err)
	}
}

// ask queries a name as a resolver for a client network, and returns the address and the scope.
func (r *routedSite) ask(name, client string) (backend string, scope uint8, err error) {
	network := netip.MustParsePrefix(client)
	m := new(dns.Msg).SetQuestion(routedName(name)+".", dns.TypeA)
	m.SetEdns0(1232, false)
	family := uint16(1)
	if network.Addr().Is6() {
		family = 2
	}
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{
		Code: dns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(network.Bits()),
		Address: net.IP(network.Addr().AsSlice()),
	}}
	answer, _, err := (&dns.Client{Timeout: testbed.Patience}).Exchange(m, r.node.DNS.String())
	if err != nil {
		return "", 0, err
	}
	if len(answer.Answer) != 1 {
		return "", 0, fmt.Errorf("%s: %s with %d records", name, dns.RcodeToString[answer.Rcode], len(answer.Answer))
	}
	for _, o := range answer.IsEdns0().Option {
		if subnet, ok := o.(*dns.EDNS0_SUBNET); ok {
			scope = subnet.SourceScope
		}
	}
	address, _ := netip.AddrFromSlice(answer.Answer[0].(*dns.A).A.To4())
	i := slices.IndexFunc(r.Backends, func(b *harness.Backend) bool { return b.At.Addr() == address })
	if i < 0 {
		return "", 0, fmt.Errorf("%s: %s is nobody's address", name, address)
	}
	return r.Backends[i].Name, scope, nil
}

// answers waits until 20 consecutive answers contain exactly the expected backends, or any backends if none are given.
// It returns them by client, and the scope.
func (r *routedSite) answers(t *testing.T, name, client, want string, bound time.Duration) (scope uint8) {
	t.Helper()
	testbed.Until(t, max(bound, testbed.StartBound), fmt.Sprintf("%s to be answered %q for %s", name, want, client),
		func(context.Context) error {
			seen := map[string]bool{}
			for range 20 {
				backend, s, err := r.ask(name, client)
				if err != nil {
					return err
				}
				seen[backend], scope = true, s
			}
			var found []string
			for backend := range seen {
				found = append(found, backend)
			}
			slices.Sort(found)
			if got := strings.Join(found, " "); want != "" && got != want {
				return fmt.Errorf("it is %q", got)
			}
			return nil
		})
	return scope
}

// The client location determines the answer, and the scope is the range of clients with this answer. The node uses a
// replaced database, and ignores an invalid database.
//
// Fault 33.
func TestRouting_GeolocationByARealDatabase(t *testing.T) {
	t.Parallel()
	r := startRouted(t)
	if scope := r.answers(t, "geolocation", testbed.ClientLondon, "b1", 0); scope == 0 || scope > 32 {
		t.Errorf("scope %d", scope)
	}
	r.answers(t, "geolocation", testbed.ClientUS, "b2 b3", 0)
	r.answers(t, "geolocation", "2002:d8a0:5338::/48", "b2 b3", 0) // 6to4 of 216.160.83.56
	r.answers(t, "geolocation", testbed.ClientSweden, "b1", 0)     // in no region: the first
	// The second file has no countries.
	for i, unusable := range []string{"MaxMind-DB-test-broken-pointers-24.mmdb", "GeoLite2-ASN-Test.mmdb"} {
		r.replace(t, unusable)
		testbed.Until(t, testbed.StartBound, unusable+" to be rejected", func(context.Context) error {
			if failures := testbed.Metric(t, r.node, "gslb_geo_reload_failures_total"); failures <= float64(i) {
				return fmt.Errorf("%v failures are counted", failures)
			}
			return nil
		})
		r.answers(t, "geolocation", testbed.ClientUS, "b2 b3", 0)
	}
}

func TestRouting_FailoverGoesAndComesBack(t *testing.T) {
	t.Parallel()
	r := startRouted(t)
	r.answers(t, "failover", testbed.ClientUS, "b1", 0)
	testbed.Kill(t, r.Backends[0])
	r.answers(t, "failover", testbed.ClientUS, "b2 b3", r.Timing.OwnDetection())
	r.answers(t, "geolocation", testbed.ClientLondon, "b2 b3", r.Timing.OwnDetection())
	r.answers(t, "proximity", testbed.ClientLondon, "b2 b3", r.Timing.OwnDetection())
	testbed.Start(t, r.Backends[0])
	r.answers(t, "failover", testbed.ClientUS, "b1", r.Timing.Recovery())
}

func TestRouting_LatencyFollowsTheFastAndSurvivesARestart(t *testing.T) {
	r := startRouted(t)
	for _, b := range r.Backends[:2] {
		testbed.Tell(t, b, "/slow?by=250ms")
	}
	r.Holds(t, "the first answer after a restart", func() (wrong error) {
		r.answers(t, "latency", testbed.ClientUS, "b3", 0)
		testbed.Stop(t, r.node)
		testbed.Start(t, r.node)
		testbed.Until(t, testbed.StartBound, "the first answer", func(context.Context) error {
			backend, scope, err := r.ask("latency", testbed.ClientUS)
			if err == nil && (backend != "b3" || scope != 0) {
				wrong = fmt.Errorf("it is %s with scope %d, want b3 as before", backend, scope)
			}
			return err
		})
		return wrong
	})
}

func TestRouting_ClientHashKeepsAClientAtItsBackend(t *testing.T) {
	r := startRouted(t)
	var before map[string]string
	ask := func(client string) (string, error) {
		backend, scope, err := r.ask("client-hash", client)
		if err == nil && scope != 24 {
			err = fmt.Errorf("%s: scope %d", client, scope)
		}
		return backend, err
	}
	r.Holds(t, "a client stays where it is", func() error {
		before = map[string]string{}
		count := map[string]int{}
		for i := range 300 {
			client := fmt.Sprintf("198.%d.%d.0/24", i%250, i/250)
			first, err := ask(client)
			again, againErr := ask(client)
			if err := errors.Join(err, againErr); err != nil {
				return err
			}
			if again != first {
				return fmt.Errorf("%s: %s and then %s", client, first, again)
			}
			before[client] = first
			count[first]++
		}
		for _, b := range r.Backends {
			if n := count[b.Name]; n < 70 || n > 130 {
				return fmt.Errorf("%s has %d of 300 clients: %v", b.Name, n, count)
			}
		}
		return nil
	})
	testbed.Kill(t, r.Backends[1])
	r.answers(t, "failover", testbed.ClientUS, "b1", 0)
	testbed.Until(t, testbed.StartBound, "b2 to be out", func(context.Context) error {
		for client := range before {
			if backend, err := ask(client); err != nil || backend == "b2" {
				return fmt.Errorf("%s still has it (%w)", client, err)
			}
		}
		return nil
	})
	r.Holds(t, "those of the others stay", func() error {
		for client, was := range before {
			if is, err := ask(client); err != nil || was != "b2" && is != was {
				return fmt.Errorf("%s went from %s to %s although that lives (%w)", client, was, is, err)
			}
		}
		return nil
	})
}

func TestRouting_ProximityIsByThePositionOfTheClient(t *testing.T) {
	r := startRouted(t)
	r.answers(t, "proximity", testbed.ClientUS, "b2 b3", 0)
	r.answers(t, "proximity", testbed.ClientSweden, "b1", 0)
	r.answers(t, "proximity", testbed.ClientNobody, "b1", 0) // nowhere: the domain's order
	r.replace(t, "GeoIP2-Country-Test.mmdb")                 // which has no positions: those of the regions count
	r.answers(t, "proximity", testbed.ClientUS, "b2 b3", 0)
	testbed.HangUp(t, r.node)
	r.answers(t, "proximity", testbed.ClientUS, "b2 b3", 0)
}
