package dns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The clients of settingsSite: in the region eu, in the region us, and in no region.
const (
	clientEU   = "10.1.0.0/24"
	clientUS   = "10.2.0.0/24"
	clientNone = "10.9.0.0/24"
)

// startSettings starts two nodes with the same domains. The backend b1 is in eu, b2 and b3 are in us, and all serve
// each domain that lists their region.
func startSettings(t *testing.T, domains ...harness.Domain) *site {
	t.Helper()
	s := newSite(t, 2, 3)
	s.Agents = nil
	for i, n := range s.Nodes {
		server := func(b *harness.Backend) harness.Server {
			return harness.Server{Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check()}
		}
		n.File.Regions = []harness.Region{{Name: "eu", Servers: []harness.Server{server(s.Backends[0])}},
			{Name: "us", Servers: []harness.Server{server(s.Backends[1]), server(s.Backends[2])}}}
		n.File.Domains = domains
		n.File.Overwatch.Geolocation = harness.Geolocation{ECSEnabled: true, CustomMappings: []harness.Mapping{
			{CIDR: netip.MustParsePrefix("10.1.0.0/16"), Region: "eu"},
			{CIDR: netip.MustParsePrefix("10.2.0.0/16"), Region: "us"}}}
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
			Peers:  []string{"http://" + s.Nodes[1-i].API.String()}}
	}
	s.StartPrograms(t)
	return s
}

// lookup queries a node for the A records of a name as a resolver for a client network. It returns the sorted names of
// the backends in the answer, or the response code.
func lookup(s *site, n *harness.Node, name, client string) (string, error) {
	network := netip.MustParsePrefix(client)
	m := new(dns.Msg).SetQuestion(name+".", dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1,
		SourceNetmask: uint8(network.Bits()), Address: net.IP(network.Addr().AsSlice())}}
	answer, _, err := (&dns.Client{Timeout: testbed.Patience}).Exchange(m, n.DNS.String())
	if err != nil {
		return "", err
	}
	if answer.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[answer.Rcode], nil
	}
	var found []string
	for _, rr := range answer.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			address, _ := netip.AddrFromSlice(rr.A.To4())
			found = append(found, nameOf(s, address))
		case *dns.CNAME:
			found = append(found, rr.Target)
		}
	}
	slices.Sort(found)
	return strings.Join(found, " "), nil
}

// nameOf returns the name of the backend with an address, or the address.
func nameOf(s *site, address netip.Addr) string {
	for _, b := range s.Backends {
		if b.At.Addr() == address {
			return b.Name
		}
	}
	return address.String()
}

// settled waits until both nodes give exactly these answers to a client in 20 consecutive answers, and the
// explanation of both nodes has the answer among its own and contains all texts. Answers are separated by " | ".
func settled(t *testing.T, s *site, name, client, want string, texts ...string) {
	t.Helper()
	for _, n := range s.Nodes {
		testbed.Until(t, testbed.StartBound, fmt.Sprintf("%s to answer %s with %q for %s", n.Name, name, want, client),
			func(ctx context.Context) error {
				seen := map[string]bool{}
				for range 20 {
					answer, err := lookup(s, n, name, client)
					if err != nil {
						return err
					}
					seen[answer] = true
				}
				var all []string
				for answer := range seen {
					all = append(all, answer)
				}
				slices.Sort(all)
				if got := strings.Join(all, " | "); got != want {
					return fmt.Errorf("it answers %q", got)
				}
				return explains(ctx, n, name, client, texts)
			})
	}
}

// explains returns an error if the explanation of a node lacks one of the texts.
func explains(ctx context.Context, n *harness.Node, name, client string, texts []string) error {
	test, err := n.Client.TestRouting(ctx, api.RoutingTestRequest{Domain: name, ClientIP: "127.0.0.1", QueryType: "A",
		EDNS: &api.RoutingEDNS{ClientSubnet: client}})
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(test)
	if err != nil {
		return err
	}
	shown := string(encoded)
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			return fmt.Errorf("the explanation lacks %q: %s", text, shown)
		}
	}
	return nil
}

// With geofence: strict, clients of a region are never answered from another region: without a backend in their region,
// they receive the fallback answer. Other clients are answered from any region.
func TestSetting_Geofence(t *testing.T) {
	t.Parallel()
	lastHealthy := map[string]any{"geofence": "strict", "on_all_down": "last_healthy"}
	const failing, lasting = "failing.test.gslb.test", "lasting.test.gslb.test"
	s := startSettings(t,
		harness.Domain{Name: failing, RoutingAlgorithm: "round-robin", Regions: []string{"eu", "us"}, TTL: 5,
			Settings: map[string]any{"geofence": "strict", "on_all_down": "servfail"}},
		harness.Domain{Name: lasting, RoutingAlgorithm: "failover", Regions: []string{"us", "eu"}, TTL: 5, Settings: lastHealthy})
	fenced := "only eu may answer its clients"
	settled(t, s, failing, clientEU, "b1", fenced, "the geofence allows only the region of the client to answer")
	settled(t, s, failing, clientUS, "b2 | b3", "only us may answer its clients")
	settled(t, s, failing, clientNone, "b1 | b2 | b3", "each region may answer")
	settled(t, s, lasting, clientEU, "b1", fenced)
	testbed.Kill(t, s.Backends[0])
	settled(t, s, failing, clientEU, "SERVFAIL", fenced, "no_healthy_backend")
	settled(t, s, failing, clientUS, "b2 | b3")
	settled(t, s, failing, clientNone, "b2 | b3")
	settled(t, s, lasting, clientEU, "b1", fenced, "fallback")
	testbed.Start(t, s.Backends[0])
	settled(t, s, failing, clientEU, "b1", fenced)
}
