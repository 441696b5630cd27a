package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"gslb.internal/integration/harness"
)

// The two load-balanced names of the demo.
const (
	appName = "app.demo.gslb.test"
	apiName = "api.demo.gslb.test"
)

// answerTTL is short, in seconds, so that clients of a resolver also see a failover soon.
const answerTTL = 5

// pace is the interval of the queries for each name to each node. It is the resolution of every measured time.
const pace = 20 * time.Millisecond

// The two regions.
const (
	regionEU = "eu"
	regionUS = "us"
)

// cast lists the backends. The sum of their weights is 100, so a weight is the expected share in percent.
var cast = [...]struct {
	name, agent, region string
	addr                netip.Addr
	weight              int
}{
	{"eu-1", "agent-eu-1", regionEU, netip.AddrFrom4([4]byte{127, 0, 1, 1}), 40},
	{"eu-2", "agent-eu-2", regionEU, netip.AddrFrom4([4]byte{127, 0, 1, 2}), 30},
	{"us-1", "agent-us-1", regionUS, netip.AddrFrom4([4]byte{127, 0, 2, 1}), 20},
	{"us-2", "", regionUS, netip.AddrFrom4([4]byte{127, 0, 2, 2}), 10},
}

// replica is a backend, with its state in the scene.
type replica struct {
	*harness.Backend
	region string
	weight int
	agent  *harness.Agent // nil: no agent reports it, and only the nodes check it
}

// detection returns the promised time until no answer contains the replica after its end.
func (r replica) detection(t harness.Timing) time.Duration {
	if r.agent == nil {
		return t.OwnDetection()
	}
	return t.Detection()
}

// scene is the cluster of the demo.
type scene struct {
	began    time.Time
	cluster  *harness.Cluster
	nodes    []*harness.Node
	agents   []*harness.Agent
	replicas []replica
	watch    *harness.Watch // what clients get
	seen     *observer      // status of the backends on each node
}

// newScene prepares all files and ports. It starts no program.
func newScene(b harness.Binaries) (*scene, error) {
	regions := []string{regionEU, regionUS}
	cluster, err := harness.NewCluster(harness.Options{
		Binaries: b,
		Timing:   harness.Fast(),
		Domains: []harness.Domain{
			{Name: appName, RoutingAlgorithm: "weighted", Regions: regions, TTL: answerTTL},
			{Name: apiName, RoutingAlgorithm: "round-robin", Regions: regions, TTL: answerTTL},
		},
	})
	if err != nil {
		return nil, err
	}
	s := &scene{began: time.Now(), cluster: cluster}
	if err := s.prepare(); err != nil {
		_ = cluster.Close() // the first error has more details
		return nil, err
	}
	return s, nil
}

func (s *scene) prepare() error {
	addrs := map[string]netip.Addr{}
	for _, c := range cast {
		addrs[c.name] = c.addr
	}
	backends, err := s.cluster.AddBackends(addrs)
	if err != nil {
		return err
	}
	static := map[string][]harness.Server{regionEU: nil, regionUS: nil}
	places := map[string][2]float64{regionEU: {50.1, 8.7}, regionUS: {39, -77.5}}
	for _, c := range cast {
		if c.agent == "" {
			static[c.region] = append(static[c.region], s.declare(backends[c.name], c.weight)...)
		}
	}
	for _, region := range []string{regionEU, regionUS} {
		n, err := s.cluster.AddNode("ow-"+region, region, static)
		if err != nil {
			return err
		}
		n.File.DNS.Zones = []string{"demo.gslb.test"}
		for i := range n.File.Regions { // for the map of the console
			r := &n.File.Regions[i]
			r.Latitude, r.Longitude = places[r.Name][0], places[r.Name][1]
		}
		s.nodes = append(s.nodes, n)
	}
	secret := rand.Text()
	for i, n := range s.nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{Peers: []string{"http://" + s.nodes[1-i].API.String()},
			PollInterval: time.Second, Timeout: 2 * time.Second, Secret: secret}
	}
	for _, c := range cast {
		r := replica{Backend: backends[c.name], region: c.region, weight: c.weight}
		if c.agent != "" {
			if r.agent, err = s.addAgent(c.agent, r); err != nil {
				return err
			}
			s.agents = append(s.agents, r.agent)
		}
		s.replicas = append(s.replicas, r)
	}
	s.watch = harness.NewWatch(s.nodes, []string{appName, apiName}, pace)
	s.watch.Patience = hang
	s.seen = &observer{nodes: s.nodes, pictures: map[*harness.Node]picture{}}
	return nil
}

// declare adds a backend without an agent to both domains.
func (s *scene) declare(b *harness.Backend, weight int) []harness.Server {
	server := harness.Server{Address: b.At.Addr(), Port: b.At.Port(), Weight: weight,
		HealthCheck: s.cluster.Timing.Check()}
	app, api := server, server
	app.Service, api.Service = appName, apiName
	return []harness.Server{app, api}
}

// addAgent adds an agent that reports a backend for both domains.
func (s *scene) addAgent(name string, r replica) (*harness.Agent, error) {
	b := harness.AgentBackend{Address: r.At.Addr(), Port: r.At.Port(), Weight: r.weight,
		HealthCheck: s.cluster.Timing.Check()}
	app, api := b, b
	app.Service, api.Service = appName, apiName
	return s.cluster.AddAgent(name, r.region, s.nodes, []harness.AgentBackend{app, api})
}

// start starts all programs and waits until both nodes answer with all backends. It prints the progress.
func (s *scene) start(ctx context.Context, say func(format string, args ...any)) error {
	say("the console will be at http://%s/", s.nodes[0].API)
	for _, r := range s.replicas {
		if err := r.Start(); err != nil {
			return err
		}
	}
	for _, n := range s.nodes {
		if err := n.Start(); err != nil {
			return err
		}
	}
	for _, a := range s.agents {
		if err := a.Start(); err != nil {
			return err
		}
	}
	say("%d processes started, their files are in %s", len(s.replicas)+len(s.nodes)+len(s.agents), s.cluster.Dir)
	for _, r := range s.replicas {
		if err := r.Serving(ctx); err != nil {
			return err
		}
		say("backend %s serves on %s", r.Name, r.At)
	}
	for _, n := range s.nodes {
		if err := n.Ready(ctx); err != nil {
			return err
		}
		say("overwatch node %s is ready: DNS %s, API %s, gossip %s", n.Name, n.DNS, n.API, n.Gossip)
	}
	for _, n := range s.nodes {
		if err := s.complete(ctx, n); err != nil {
			return err
		}
		say("%s knows all %d backends to be well", n.Name, len(s.replicas))
	}
	for _, n := range s.nodes {
		if err := s.replicating(ctx, n); err != nil {
			return err
		}
	}
	say("%s and %s replicate changes of operators: drain a backend on one node, and the other drains it too",
		s.nodes[0].Name, s.nodes[1].Name)
	return nil
}

// replicating waits until a node replicates with the other node.
func (s *scene) replicating(ctx context.Context, n *harness.Node) error {
	return harness.Until(ctx, n.Name+" to replicate", func(ctx context.Context) error {
		r, err := n.Client.Replication(ctx)
		if err == nil && (len(r.Peers) != 1 || !r.Peers[0].Connected) {
			err = errors.New("the other node is not connected")
		}
		return err
	})
}

// complete waits until a node may answer with every backend for both names.
func (s *scene) complete(ctx context.Context, n *harness.Node) error {
	want := 2 * len(s.replicas)
	return harness.Until(ctx, n.Name+" to know every backend", func(ctx context.Context) error {
		stats, err := n.Client.Stats(ctx)
		if err == nil && stats.HealthyBackends != want {
			err = fmt.Errorf("%d of %d are healthy", stats.HealthyBackends, want)
		}
		return err
	})
}

// observe records the answers of clients and the status of the backends on the nodes until ctx ends.
func (s *scene) observe(ctx context.Context) {
	var group harness.Group
	group.Start(func() { s.watch.Run(ctx) })
	group.Start(func() { s.seen.run(ctx) })
	group.Wait()
}
