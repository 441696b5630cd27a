package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gslb.internal/shared/api"
)

// askBound is the time limit of a request to a backend. apiBound is the time limit of a request to a node's API,
// because a change waits for the disk of a possibly busy machine.
const (
	askBound = 2 * time.Second
	apiBound = 10 * time.Second
)

// Node is an overwatch node.
type Node struct {
	*Unit
	File   OverwatchFile
	Path   string // configuration file
	DNS    netip.AddrPort
	Gossip netip.AddrPort
	API    netip.AddrPort
	Prom   netip.AddrPort // address of /metrics
	Client *api.Client
}

// AddNode prepares an overwatch node that serves all domains of the cluster. servers has the static backends of each
// region of the node; a region may have none.
func (c *Cluster) AddNode(name, region string, servers map[string][]Server) (*Node, error) {
	dir, err := c.directory(name)
	if err != nil {
		return nil, err
	}
	etc := filepath.Join(dir, "etc") // only for the configuration, like /etc/gslb
	if err := os.Mkdir(etc, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the configuration of %s: %w", name, err)
	}
	n := &Node{Path: filepath.Join(etc, "overwatch.yaml")}
	held, err := n.reserve()
	if err != nil {
		return nil, fmt.Errorf("ports of %s: %w", name, err)
	}
	if n.Client, err = api.NewClient(api.ClientOptions{Node: "http://" + n.API.String(), Timeout: apiBound}); err != nil {
		return nil, err
	}
	n.File = c.overwatchFile(n, name, region, servers)
	n.File.DataDir = filepath.Join(dir, "data")
	n.Unit = c.newUnit(name, []string{c.binaries.Overwatch, "--config", n.Path}, held...)
	return n, nil
}

func (n *Node) reserve() ([]*Reservation, error) {
	var held []*Reservation
	listeners := []struct {
		at       *netip.AddrPort
		networks []string
	}{
		{&n.DNS, []string{"udp", "tcp"}},
		{&n.Gossip, []string{"udp", "tcp"}},
		{&n.API, []string{"tcp"}},
		{&n.Prom, []string{"tcp"}},
	}
	for _, l := range listeners {
		r, err := Reserve([]netip.Addr{localhost}, l.networks...)
		if err != nil {
			return nil, err
		}
		*l.at = r.On(localhost)
		held = append(held, r)
	}
	return held, nil
}

func (c *Cluster) overwatchFile(n *Node, name, region string, servers map[string][]Server) OverwatchFile {
	t := c.Timing
	f := OverwatchFile{
		Mode:    "overwatch",
		DNS:     DNSSection{ListenAddress: n.DNS.String()},
		Logging: Logging{Level: "info", Format: "console"},
		Metrics: Listener{Enabled: true, Address: n.Prom.String()},
		API:     APISection{Listener: Listener{Enabled: true, Address: n.API.String()}},
	}
	f.Overwatch.Identity.NodeID, f.Overwatch.Identity.Region = name, region
	f.Overwatch.AgentTokens = maps.Clone(c.Tokens)
	f.Overwatch.Gossip.BindAddress, f.Overwatch.Gossip.EncryptionKey = n.Gossip.String(), c.GossipKey
	v := &f.Overwatch.Validation
	v.Enabled, v.CheckInterval, v.CheckTimeout = true, t.ValidationInterval, t.ValidationTimeout
	f.Overwatch.Stale.Threshold, f.Overwatch.Stale.RemoveAfter = t.StaleThreshold, t.RemoveAfter
	f.Domains = slices.Clone(c.domains)
	for _, r := range sortedKeys(servers) {
		f.Regions = append(f.Regions, Region{Name: r, Servers: servers[r]})
	}
	return f
}

// Start writes the configuration in File and starts the node.
func (n *Node) Start() error {
	if err := n.WriteFile(); err != nil {
		return err
	}
	return n.Unit.Start()
}

// WriteFile writes the configuration in File, for a reload.
func (n *Node) WriteFile() error { return writeFile(n.Path, n.File) }

// Ready waits until the node reports that it is ready: its sockets are open and a first cycle of checks is over.
func (n *Node) Ready(ctx context.Context) error {
	return Until(ctx, n.Name+" to be ready", func(ctx context.Context) error {
		if err := n.alive(); err != nil {
			return err
		}
		answer, err := n.Client.Readiness(ctx)
		if err == nil && !answer.Ready {
			err = errors.New(answer.Message)
		}
		return err
	})
}
