package drill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// TTLs in seconds. Keys, SOA records and denials have firstTTL until the restarts in the middle of the key rollover,
// and lowTTL later. Addresses have nameTTL.
const firstTTL, lowTTL, nameTTL = 15, 1, 4

// Paths of the receiver. onCall receives warnings and higher severities; orders receives drains and reloads of all
// severities.
const onCall, orders = "/on-call", "/orders"

// week is a cluster of three nodes and three regions. Each region has one agent with two backends.
type week struct {
	*testbed.Site
	hook  *receiver
	above *parent
	probe *probe
	gates []*gate                       // of the third node, both ways
	agent map[string]*harness.Agent     // by region
	in    map[string][]*harness.Backend // by region
}

// timing is slower than harness.Fast: a check may take a second, so that no check fails on a busy machine.
func timing() harness.Timing {
	f := harness.Fast()
	f.CheckInterval, f.CheckTimeout = time.Second, time.Second
	f.ValidationInterval, f.ValidationTimeout = time.Second, time.Second
	f.StaleThreshold = 4 * time.Second
	return f
}

func startWeek(t *testing.T) *week {
	t.Helper()
	testbed.Judge(t, "unbound")
	regions := []string{"eu", "us", "ap"}
	c := testbed.NewCluster(t, timing(), harness.Domain{Name: testbed.AppName, RoutingAlgorithm: "round-robin",
		Regions: regions, TTL: nameTTL})
	w := &week{Site: &testbed.Site{Cluster: c}, hook: startReceiver(t), above: startParent(t),
		agent: map[string]*harness.Agent{},
		in:    map[string][]*harness.Backend{}}
	w.JoinBackends(t, 2*len(regions))
	for i := range regions {
		w.Nodes = append(w.Nodes, w.prepareNode(t, fmt.Sprintf("ow-%d", i+1), regions))
	}
	w.connect(t)
	for i, r := range regions {
		w.in[r] = w.Backends[2*i : 2*i+2]
		w.agent[r] = w.prepareAgent(t, r, r)
		w.Agents = append(w.Agents, w.agent[r])
	}
	// A second of failing checks reduces the share of a backend. This applies to one region only, because agents of the
	// other regions report failures. The warning ends one window and two checks after the last failing check.
	never := map[string]any{"threshold": 100} // of a machine that is busy with other tests
	w.agent["us"].File.Agent.Predictive = map[string]any{"enabled": true, "check_interval": "1s", "cpu": never,
		"memory":     never,
		"error_rate": map[string]any{"threshold": 10, "window": "4s", "bleed_duration": "1s"}}
	for _, b := range w.Backends {
		testbed.Start(t, b)
	}
	w.StartNodes(t, w.Nodes...)
	for _, a := range w.Agents {
		testbed.Start(t, a)
	}
	for _, n := range w.Nodes {
		w.Ready(t, n)
		for _, b := range w.Backends {
			w.Status(t, n, b, testbed.StartBound, testbed.WantSound)
		}
	}
	w.oneKey(t)
	w.quiet(t)
	w.above.has(t, signed.DS(t, w.Nodes[0]).DSRecord)
	w.probe = startProbe(t, w.Site)
	return w
}

func (w *week) prepareNode(t *testing.T, name string, regions []string) *harness.Node {
	t.Helper()
	servers := map[string][]harness.Server{}
	for _, r := range regions {
		servers[r] = nil
	}
	n := testbed.AddNode(t, w.Cluster, name, "eu", servers)
	own := w.Timing.Check()
	own.Path = "/own" // which a backend answers with 200 even while it calls itself ill
	f := &n.File.Overwatch
	f.AgentPolicies = map[string]harness.AgentPolicy{testbed.AppName: {HealthCheck: &own}}
	f.Replication.Enabled = true
	f.Flapping.Window = flapWindow
	n.File.DNS.Zones = []string{testbed.ZoneName}
	n.File.DNS.ApexTTL, n.File.DNS.NegativeTTL = firstTTL, firstTTL
	f.DNSSEC.Rollover = harness.Rollover{ParentServers: []string{w.above.at}, Margin: time.Second}
	f.Geolocation.DatabasePath = testbed.File(t, "countries.mmdb", database(t))
	target := func(name, path, severity string, kinds ...string) map[string]any {
		return map[string]any{"name": name, "type": "webhook", "url": w.hook.URL + path, "secret": testbed.WebhookSecret,
			"group_wait": "1s", "severity": severity, "kinds": kinds}
	}
	f.Notifications = map[string]any{"targets": []any{
		target("on-call", onCall, "warning", "backend", "name", "agent", "refused", "node", "brake", "suspension", "key",
			"signing", "replication", "store", "certificate", "token", "region", "notification", "service", "geo", "share"),
		target("orders", orders, "info", "drain", "reload", "weight")}}
	return n
}

// database returns a geolocation database that a node can use.
func database(t *testing.T) string {
	t.Helper()
	return testbed.Read(t, testbed.Databases+"GeoLite2-Country-Test.mmdb")
}

// connect makes each node a peer of the others. The third node and the others communicate through gates.
func (w *week) connect(t *testing.T) {
	t.Helper()
	cut := len(w.Nodes) - 1
	for i, n := range w.Nodes {
		sync := &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters"}
		for k, other := range w.Nodes {
			if k == i {
				continue
			}
			at := other.API.String()
			if i == cut || k == cut {
				g := openGate(t, other)
				w.gates = append(w.gates, g)
				at = g.Addr().String()
			}
			sync.Peers = append(sync.Peers, "http://"+at)
			n.File.Overwatch.Gossip.Seeds = append(n.File.Overwatch.Gossip.Seeds, other.Gossip.String())
		}
		n.File.Overwatch.DNSSEC.KeySync = sync
	}
}

// prepareAgent prepares an agent for the backends of a region.
func (w *week) prepareAgent(t *testing.T, name, region string) *harness.Agent {
	t.Helper()
	var backends []harness.AgentBackend
	for _, b := range w.in[region] {
		backends = append(backends, harness.AgentBackend{Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(),
			Weight: 100, HealthCheck: w.Timing.Check()})
	}
	a, err := w.AddAgent(name, region, w.Nodes, backends)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// oneKey waits until all nodes sign with one key.
func (w *week) oneKey(t *testing.T) {
	t.Helper()
	testbed.Until(t, testbed.KeyBound, "one key everywhere", func(ctx context.Context) error {
		first := 0
		for i, n := range w.Nodes {
			list, err := n.Client.DSRecords(ctx)
			if err != nil || len(list.DSRecords) != 1 {
				return fmt.Errorf("%s has %+v, %w", n.Name, list.DSRecords, err)
			}
			if tag := list.DSRecords[0].KeyTag; i == 0 {
				first = tag
			} else if tag != first {
				return fmt.Errorf("%s has key %d, not %d", n.Name, tag, first)
			}
		}
		return nil
	})
}

// quiet waits until no node has a condition.
func (w *week) quiet(t *testing.T) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, "no condition anywhere", func(ctx context.Context) (err error) {
		for _, n := range w.Nodes {
			list, listErr := n.Client.Conditions(ctx)
			if err = errors.Join(err, listErr); len(list.Conditions) > 0 {
				err = errors.Join(err, fmt.Errorf("%s: %+v", n.Name, list.Conditions))
			}
		}
		return err
	})
}

// replace replaces a file atomically.
func replace(t *testing.T, path, text string) {
	t.Helper()
	next := filepath.Join(filepath.Dir(path), "next")
	testbed.Write(t, next, 0o600, text)
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}
