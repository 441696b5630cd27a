package integration_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// networkPart is the environment variable by which the program of these tests, started once more, is root of a user
// namespace.
const networkPart = "INTEGRATION_NETWORK"

// onNetwork runs a test that makes networks, beside others: here, or as a plain user in a user namespace of its own.
func onNetwork(t *testing.T, test func(t *testing.T, n *network.Network)) {
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
		testbed.Missing(t, refused.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run", "^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), networkPart+"=inside", "GSLB_BIN="+programDirectory(t))
	var said bytes.Buffer
	c.Stdout = io.MultiWriter(t.Output(), &said)
	c.Stderr = c.Stdout
	network.Enter(c)
	ended, err := harness.StartTied(c, nil)
	if err != nil {
		testbed.Missing(t, fmt.Sprintf("%v; and as root of a user namespace: %v", refused, err))
	}
	<-ended
	if !c.ProcessState.Success() {
		t.Error(c.ProcessState)
	} else if bytes.Contains(said.Bytes(), []byte("--- SKIP")) {
		t.Skip("skipped in a user namespace too")
	}
}

// programDirectory makes a directory with all programs under their names.
func programDirectory(t *testing.T) string {
	t.Helper()
	b := testbed.Binaries(t)
	dir := t.TempDir()
	for _, path := range []string{b.Overwatch, b.Agent, b.Control, b.Launcher, b.Backend} {
		if err := os.Symlink(path, filepath.Join(dir, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// addSite adds a site, to which a packet takes so long from the router.
func addSite(t *testing.T, n *network.Network, name string, delay time.Duration) *network.Site {
	t.Helper()
	s, err := n.AddSite(name, delay)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func addHost(t *testing.T, s *network.Site) network.Host {
	t.Helper()
	h, err := s.AddHost()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// rules says what becomes of packets from now on.
func rules(t *testing.T, n *network.Network, s *site, rules ...string) {
	t.Helper()
	s.Story.Event("network: %q", rules)
	if err := n.Rules(rules...); err != nil {
		t.Fatal(err)
	}
}

// The ports that a user would have.
const (
	dnsPort     = 53
	gossipPort  = 7946
	apiPort     = 8080
	metricsPort = 9090
	appPort     = 443
)

// nodeAt prepares a node at a host of a site, which it has for itself, on the ports of the defaults. It is asked about
// itself from its own site, whatever becomes of the network.
func (s *site) nodeAt(t *testing.T, at *network.Site, h network.Host, name string, regions ...string) *harness.Node {
	t.Helper()
	servers := map[string][]harness.Server{}
	for _, r := range regions {
		servers[r] = nil
	}
	n, err := s.AddNode(name, regions[0], servers)
	if err != nil {
		t.Fatal(err)
	}
	f := &n.File
	n.DNS, f.DNS.ListenAddress = netip.AddrPortFrom(h.IPv4, dnsPort), ":53"
	n.Gossip, f.Overwatch.Gossip.BindAddress = netip.AddrPortFrom(h.IPv4, gossipPort), "0.0.0.0:7946"
	n.API, f.API.Address = netip.AddrPortFrom(h.IPv4, apiPort), "0.0.0.0:8080"
	n.Prom, f.Metrics.Address = netip.AddrPortFrom(h.IPv4, metricsPort), "0.0.0.0:9090"
	v4, _ := at.Networks()
	f.API.More = map[string]any{"allowed_networks": []string{v4.String()}}
	f.DNS.Zones = []string{testbed.ZoneName}
	n.Inside = at.Inside
	n.Client, err = api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Dial: at.Dial})
	if err != nil {
		t.Fatal(err)
	}
	s.Nodes = append(s.Nodes, n)
	return n
}

// backendAt prepares a backend of appName at a host of a site and its agent beside it, in a region and for all nodes.
func (s *site) backendAt(t *testing.T, at *network.Site, h network.Host, name, region string) *harness.Backend {
	t.Helper()
	b := s.AddBackendAt(name, netip.AddrPortFrom(h.IPv4, appPort))
	b.Inside = at.Inside
	s.Backends = append(s.Backends, b)
	a := s.JoinAgent(t, "agent-"+name, b)
	a.File.Agent.Identity.Region = region
	a.Inside = at.Inside
	s.Agents = append(s.Agents, a)
	return b
}

// newNetworkSite prepares a cluster for a network, with appName and other names steered in some regions.
func newNetworkSite(t *testing.T, regions []string, others ...string) *site {
	t.Helper()
	var domains []harness.Domain
	for _, name := range append([]string{testbed.AppName}, others...) {
		domains = append(domains, harness.Domain{Name: name, RoutingAlgorithm: "round-robin", Regions: regions, TTL: 5})
	}
	return &site{&testbed.Site{Cluster: testbed.NewCluster(t, harness.Fast(), domains...)}}
}

// watchFrom lets a client in a site ask some nodes from now until the test ends.
func (s *site) watchFrom(t *testing.T, at *network.Site, nodes ...*harness.Node) *harness.Watch {
	t.Helper()
	w := harness.NewWatch(nodes, []string{testbed.AppName}, testbed.Pace)
	w.Dial = at.Dial
	s.RunWatch(t, w)
	s.Began = time.Now()
	return w
}

// browser is an HTTP client in a site, from an address of it if that is valid. It keeps no connection.
func browser(at *network.Site, from netip.Addr) *http.Client {
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		return at.DialFrom(ctx, from, network, to)
	}
	return &http.Client{Timeout: testbed.Patience, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}
