package network_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// placed is a node that answers each region's clients with the server of this region, and the clients.
type placed struct {
	*site
	node    *harness.Node
	host    network.Host
	servers map[string]netip.Addr // of a region
	clients *network.Site
}

// startPlaced starts the node with some networks mapped to regions, for a load-balanced name with an algorithm.
func startPlaced(t *testing.T, n *network.Network, algorithm string, change func(*harness.OverwatchFile)) *placed {
	t.Helper()
	p := &placed{site: newNetworkSite(t, []string{"eu", "us", "rest"}), servers: map[string]netip.Addr{}}
	home := testbed.AddSite(t, n, "home", 0)
	p.clients = testbed.AddSite(t, n, "clients", 0)
	p.host = testbed.AddHost(t, home)
	p.node = p.NodeAt(t, home, p.host, "ow", "eu", "us", "rest")
	f := &p.node.File
	f.Overwatch.Validation.Enabled = false
	f.Domains[0].RoutingAlgorithm = algorithm
	for i := range f.Regions {
		r := &f.Regions[i]
		p.servers[r.Name] = netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)})
		r.Servers = []harness.Server{{Service: testbed.AppName, Address: p.servers[r.Name], Port: testbed.AppPort,
			Weight: 100, HealthCheck: p.Timing.Check()}}
	}
	change(f)
	p.StartPrograms(t)
	return p
}

// serves checks the answer for a client address, over UDP and TCP.
func (p *placed) serves(t *testing.T, from netip.Addr, region string) {
	t.Helper()
	to := netip.AddrPortFrom(p.host.IPv4, testbed.DNSPort)
	if from.Is6() {
		to = netip.AddrPortFrom(p.host.IPv6, testbed.DNSPort)
	}
	dial := func(ctx context.Context, network, at string) (net.Conn, error) {
		return p.clients.DialFrom(ctx, from, network, at)
	}
	for _, protocol := range []string{"udp", "tcp"} {
		r, err := exchangeFrom(dial, question(dns.TypeA), protocol, to)
		if err != nil || len(r.Answer) != 1 {
			t.Errorf("from %s over %s: %v %v", from, protocol, err, r)
			continue
		}
		if got, _ := netip.AddrFromSlice(r.Answer[0].(*dns.A).A.To4()); got != p.servers[region] {
			t.Errorf("from %s over %s: %s, want %s of %s", from, protocol, got, p.servers[region], region)
		}
	}
}

// The region is determined by the source address of a query, with the longest matching prefix of its own family: no
// network of one family contains a client of the other family, mapped or not.
func TestNetwork_TheRegionIsThatOfTheSource(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		prefix := netip.MustParsePrefix
		p := startPlaced(t, n, "geolocation", func(f *harness.OverwatchFile) {
			f.Overwatch.Geolocation.CustomMappings = []harness.Mapping{
				{CIDR: prefix("10.77.2.2/32"), Region: "us"}, {CIDR: prefix("10.77.2.0/24"), Region: "eu"},
				{CIDR: prefix("0.0.0.0/0"), Region: "rest"},
				{CIDR: prefix("fd77:0:0:2::2/128"), Region: "eu"}, {CIDR: prefix("fd77:0:0:2::/64"), Region: "us"},
				{CIDR: prefix("::/0"), Region: "rest"},
			}
		})
		one, other := testbed.AddHost(t, p.clients), testbed.AddHost(t, p.clients)
		p.serves(t, one.IPv4, "us")
		p.serves(t, one.IPv6, "eu")
		p.serves(t, other.IPv4, "eu")
		p.serves(t, other.IPv6, "us")
		for _, elsewhere := range []string{"198.51.100.7", "2001:db8::7"} {
			a := netip.MustParseAddr(elsewhere)
			if err := p.clients.AddAddress(a); err != nil {
				t.Fatal(err)
			}
			p.serves(t, a, "rest")
		}
	})
}

// The nearest region is determined by the position of the source address in the database.
func TestNetwork_TheNearestRegionIsThatOfTheSource(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		p := startPlaced(t, n, "proximity", func(f *harness.OverwatchFile) {
			content := testbed.Read(t, testbed.Databases+"GeoIP2-City-Test.mmdb")
			path := filepath.Join(f.DataDir, "..", "city.mmdb")
			testbed.Write(t, path, 0o600, content)
			f.Overwatch.Geolocation.DatabasePath = path
			for i, at := range map[string][2]float64{"eu": {51.5, -0.1}, "us": {47.6, -122.3}, "rest": {1.35, 103.8}} {
				r := &f.Regions[slices.IndexFunc(f.Regions, func(r harness.Region) bool { return r.Name == i })]
				r.Latitude, r.Longitude = at[0], at[1]
			}
		})
		for client, region := range map[string]string{testbed.ClientLondon: "eu", testbed.ClientUS: "us",
			clientJapan: "rest"} {
			a := netip.MustParsePrefix(client).Addr()
			if err := p.clients.AddAddress(a); err != nil {
				t.Fatal(err)
			}
			p.serves(t, a, region)
		}
	})
}

// clientJapan is in the database too: Japan.
const clientJapan = "2001:218::1/128"

// The source address determines the access to the API, the metrics and explanations, even on a socket of both families.
// A listener of all IPv4 addresses has no IPv6 address.
func TestNetwork_WhoMayAskIsKnownByTheSource(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		prefix := netip.MustParsePrefix
		friends := []netip.Prefix{prefix("10.77.2.2/32"), prefix("fd77:0:0:2::3/128")}
		p := startPlaced(t, n, "round-robin", func(f *harness.OverwatchFile) {
			f.API.Address = "[::]:8080"
			f.API.More["allowed_networks"] = append([]netip.Prefix{prefix("10.77.1.0/24"), prefix("::/0")}, friends[0])
			f.Routing = &harness.Routing{WhyNetworks: friends}
		})
		one, other := testbed.AddHost(t, p.clients), testbed.AddHost(t, p.clients)
		get := func(from, to netip.Addr, port uint16, path string) int {
			t.Helper()
			r, err := browser(p.clients, from).Get("http://" + netip.AddrPortFrom(to, port).String() + path)
			if err != nil {
				return 0
			}
			defer r.Body.Close()
			_, _ = io.Copy(io.Discard, r.Body)
			return r.StatusCode
		}
		for _, c := range []struct {
			from, to netip.Addr
			api, why bool
		}{
			{one.IPv4, p.host.IPv4, true, true},
			{other.IPv4, p.host.IPv4, false, false}, // ::/0 holds no IPv4 address
			{one.IPv6, p.host.IPv6, true, false},
			{other.IPv6, p.host.IPv6, true, true},
		} {
			want := http.StatusForbidden
			if c.api {
				want = http.StatusOK
			}
			if got := get(c.from, c.to, testbed.APIPort, "/api/v1/domains"); got != want {
				t.Errorf("the API answers %s with %d, want %d", c.from, got, want)
			}
			dial := func(ctx context.Context, network, at string) (net.Conn, error) {
				return p.clients.DialFrom(ctx, c.from, network, at)
			}
			q := new(dns.Msg).SetQuestion("_why."+testbed.AppName+".", dns.TypeTXT)
			r, err := exchangeFrom(dial, q, "udp", netip.AddrPortFrom(c.to, testbed.DNSPort))
			if err != nil {
				t.Errorf("from %s: %v", c.from, err)
				continue
			}
			told := len(r.Answer) > 0
			if told != c.why {
				t.Errorf("%s is told why: %t, want %t: %v", c.from, told, c.why, r)
			}
			if told && !strings.Contains(r.String(), c.from.String()) {
				t.Errorf("why is told of another client than %s: %v", c.from, r)
			}
		}
		if got := get(one.IPv4, p.host.IPv4, testbed.MetricsPort, "/metrics"); got != http.StatusOK {
			t.Errorf("the metrics on 0.0.0.0 over IPv4: %d", got)
		}
		if got := get(one.IPv6, p.host.IPv6, testbed.MetricsPort, "/metrics"); got != 0 {
			t.Errorf("the metrics on 0.0.0.0 are answered over IPv6: %d", got)
		}
	})
}
