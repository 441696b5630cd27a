package testbed

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/shared/api"
)

// networkPart is set in the environment of a test program that OnNetwork has restarted in a user namespace.
const networkPart = "INTEGRATION_NETWORK"

// OnNetwork runs a test that creates networks, in parallel with others. If this process has no right to create
// networks, OnNetwork runs the test in a second process that is root of a user namespace.
func OnNetwork(t *testing.T, test func(t *testing.T, n *network.Network)) {
	t.Helper()
	t.Parallel()
	refused := network.Allowed()
	if refused == nil {
		n, err := network.New()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		test(t, n)
		return
	}
	if os.Getenv(networkPart) != "" {
		Missing(t, refused.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run", "^" + t.Name() + "$", "-test.v"}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") { // a flag of the package
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), networkPart+"=inside", "GSLB_BIN="+ProgramsTogether(t))
	var said bytes.Buffer
	c.Stdout = io.MultiWriter(t.Output(), &said)
	c.Stderr = c.Stdout
	network.Enter(c)
	ended, err := harness.StartTied(c, nil)
	if err != nil {
		Missing(t, fmt.Sprintf("%v; and as root of a user namespace: %v", refused, err))
	}
	<-ended
	if !c.ProcessState.Success() {
		t.Error(c.ProcessState)
	} else if bytes.Contains(said.Bytes(), []byte("--- SKIP")) {
		t.Skip("skipped in a user namespace as well")
	}
}

// AddSite adds a site with a delay for packets from the router.
func AddSite(t *testing.T, n *network.Network, name string, delay time.Duration) *network.Site {
	t.Helper()
	s, err := n.AddSite(name, delay)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// AddHost adds a host to a site.
func AddHost(t *testing.T, s *network.Site) network.Host {
	t.Helper()
	h, err := s.AddHost()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The default ports.
const (
	DNSPort     = 53
	GossipPort  = 7946
	APIPort     = 8080
	MetricsPort = 9090
	AppPort     = 443
)

// NodeAt prepares a node at a host of a site, on the default ports. A site can have only one node, since its hosts
// share the ports. Requests to the node's API are sent from its site, so that network faults do not affect them.
func (s *Site) NodeAt(t *testing.T, at *network.Site, h network.Host, name string, regions ...string) *harness.Node {
	t.Helper()
	servers := map[string][]harness.Server{}
	for _, r := range regions {
		servers[r] = nil
	}
	n := AddNode(t, s.Cluster, name, regions[0], servers)
	f := &n.File
	n.DNS, f.DNS.ListenAddress = netip.AddrPortFrom(h.IPv4, DNSPort), ":53"
	n.Gossip, f.Overwatch.Gossip.BindAddress = netip.AddrPortFrom(h.IPv4, GossipPort), "0.0.0.0:7946"
	n.API, f.API.Address = netip.AddrPortFrom(h.IPv4, APIPort), "0.0.0.0:8080"
	n.Prom, f.Metrics.Address = netip.AddrPortFrom(h.IPv4, MetricsPort), "0.0.0.0:9090"
	v4, _ := at.Networks()
	f.API.More = map[string]any{"allowed_networks": []string{v4.String()}}
	f.DNS.Zones = []string{ZoneName}
	n.Inside = at.Inside
	var err error
	if n.Client, err = api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Dial: at.Dial}); err != nil {
		t.Fatal(err)
	}
	s.Nodes = append(s.Nodes, n)
	return n
}

// BackendAt prepares a backend of AppName at a host of a site, and an agent on the same host. The agent is in a region
// and reports to all nodes that exist at the call.
func (s *Site) BackendAt(t *testing.T, at *network.Site, h network.Host, name, region string) *harness.Backend {
	t.Helper()
	b := s.AddBackendAt(name, netip.AddrPortFrom(h.IPv4, AppPort))
	b.Inside = at.Inside
	s.Backends = append(s.Backends, b)
	a := s.JoinAgent(t, "agent-"+name, b)
	a.File.Agent.Identity.Region = region
	a.Inside = at.Inside
	s.Agents = append(s.Agents, a)
	return b
}

// NewNetworkSite prepares a cluster for a network, with load balancing of AppName and other names in some regions.
func NewNetworkSite(t *testing.T, regions []string, others ...string) *Site {
	t.Helper()
	var domains []harness.Domain
	for _, name := range append([]string{AppName}, others...) {
		domains = append(domains, harness.Domain{Name: name, RoutingAlgorithm: "round-robin", Regions: regions, TTL: 5})
	}
	return &Site{Cluster: NewCluster(t, harness.Fast(), domains...)}
}

// WatchFrom starts a watch that queries nodes from a site until the test ends.
func (s *Site) WatchFrom(t *testing.T, at *network.Site, nodes ...*harness.Node) *harness.Watch {
	t.Helper()
	w := harness.NewWatch(nodes, []string{AppName}, Pace)
	w.Dial, w.Patience = at.Dial, Hang
	s.RunWatch(t, w)
	s.Began = time.Now()
	return w
}

// LostGossip returns rules that drop a percentage of the gossip packets between agents in one site and a node in
// another, in both directions. protocols are names of protocols in nft, such as "udp".
func LostGossip(percent int, agents, node *network.Site, protocols string) []string {
	at := fmt.Sprintf("7946 numgen random mod 100 < %d drop", percent)
	return []string{
		network.Between(agents, node, "meta l4proto "+protocols+" th dport "+at),
		network.Between(node, agents, "meta l4proto "+protocols+" th sport "+at),
	}
}
