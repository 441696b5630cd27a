package failover_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// drillBound is the promised time until the nodes report an event. They report a silent node after 30 s.
const drillBound = time.Minute

// drill is three nodes and a name with three backends in eu and two in us, each with an agent. The nodes use a check
// that the operator has configured.
type drill struct {
	*testbed.Site
	eu, us []*harness.Agent
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	timing := harness.Fast()
	timing.FailureThreshold = 10 // a backend that stands still for a second is not ill: who says so is held until released
	c := testbed.NewCluster(t, timing, harness.Domain{Name: testbed.AppName, RoutingAlgorithm: "round-robin",
		Regions: []string{"eu", "us"}, TTL: 5})
	d := &drill{Site: &testbed.Site{Cluster: c}}
	d.JoinBackends(t, 5)
	own := c.Timing.Check()
	own.Interval = c.Timing.ValidationInterval
	for i := range 3 {
		n := testbed.AddNode(t, c, fmt.Sprintf("ow-%d", i+1), "eu", map[string][]harness.Server{"eu": nil, "us": nil})
		n.File.DNS.Zones = []string{"test.gslb.test"}
		n.File.Overwatch.AgentPolicies = map[string]harness.AgentPolicy{testbed.AppName: {HealthCheck: &own}}
		d.Nodes = append(d.Nodes, n)
	}
	for i, n := range d.Nodes {
		for k, other := range d.Nodes {
			if k != i {
				n.File.Overwatch.Gossip.Seeds = append(n.File.Overwatch.Gossip.Seeds, other.Gossip.String())
			}
		}
	}
	for i, b := range d.Backends {
		region, of := "eu", &d.eu
		if i >= 3 {
			region, of = "us", &d.us
		}
		a, err := c.AddAgent(fmt.Sprintf("%s-%d", region, i+1), region, d.Nodes, []harness.AgentBackend{{
			Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: c.Timing.Check()}})
		if err != nil {
			t.Fatal(err)
		}
		*of = append(*of, a)
		d.Agents = append(d.Agents, a)
	}
	d.StartPrograms(t)
	return d
}

// conditions waits until nodes list conditions of all given kinds, and no conditions other than these and the optional
// ones.
func (d *drill) conditions(t *testing.T, nodes []*harness.Node, want []api.ConditionKind, others ...api.ConditionKind) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, drillBound, fmt.Sprintf("%s to tell of %v", n.Name, want), func(ctx context.Context) error {
			list, err := n.Client.Conditions(ctx)
			if err != nil {
				return err
			}
			var kinds []api.ConditionKind
			for _, c := range list.Conditions {
				kinds = append(kinds, c.Kind)
				if c.Command == "" || c.Sentence == "" {
					t.Errorf("%s: a condition without a command: %+v", n.Name, c)
				}
				if !slices.Contains(want, c.Kind) && !slices.Contains(others, c.Kind) {
					return fmt.Errorf("it tells of %s: %s", c.Kind, c.Sentence)
				}
			}
			for _, kind := range want {
				if !slices.Contains(kinds, kind) {
					return fmt.Errorf("it tells of %v", kinds)
				}
			}
			return nil
		})
	}
}

// watch queries nodes for the name until stop is called, which returns every answer without an address.
func watch(t *testing.T, nodes []*harness.Node) (stop func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var mu sync.Mutex
	var dark []string
	for _, n := range nodes {
		all.Go(func() {
			client := &dns.Client{Timeout: testbed.Patience}
			tick := time.NewTicker(testbed.Pace)
			defer tick.Stop()
			for ctx.Err() == nil {
				m, _, err := client.ExchangeContext(
					ctx,
					new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA),
					n.DNS.String(),
				)
				if err == nil && len(m.Answer) == 0 {
					mu.Lock()
					dark = append(dark, fmt.Sprintf("%s at %s: %s", n.Name, time.Now().Format("15:04:05.000"),
						dns.RcodeToString[m.Rcode]))
					mu.Unlock()
				}
				<-tick.C
			}
		})
	}
	return func() []string {
		cancel()
		all.Wait()
		return dark
	}
}

// Four faults occur at the same time: a region fails, an agent release reports all backends unhealthy, an operator
// drains the wrong address, and a node is disconnected. The nodes report all four with their remedies, every answer has
// an address, and the cluster is healthy at the end.
func TestDrill_FourThingsAtOnce(t *testing.T) {
	t.Parallel()
	d := newDrill(t)
	here, away := d.Nodes[:2], d.Nodes[2]
	d.conditions(t, d.Nodes, nil)
	for _, n := range here {
		testbed.Until(t, drillBound, n.Name+" to hear "+away.Name, func(ctx context.Context) error {
			return hears(ctx, n, away)
		})
	}
	stop := watch(t, here)
	gslbctl := func(argv ...string) testbed.Result {
		argv = append([]string{testbed.Binaries(t).Control}, argv...)
		for _, n := range here {
			argv = append(argv, "--api", n.API.String())
		}
		return testbed.Command(t, argv...)
	}

	if err := away.Signal(syscall.SIGSTOP); err != nil { // nobody hears it any more
		t.Fatal(err)
	}
	for i, a := range d.us { // the region dies
		testbed.Kill(t, a)
		testbed.Kill(t, d.Backends[3+i])
	}
	d.release(t, "127.0.3.250") // where nothing listens
	told := []api.ConditionKind{api.AgentsHeld, api.RegionLost, api.DrainInForce, api.NodeUnheard}
	d.conditions(t, here, told[:1], told...)
	wrong := testbed.AppName + ":" + d.Backends[0].At.String()
	gslbctl("drain", wrong, "--reason", "the wrong address", "--over", "1s", "--yes").Want(t, 0)

	d.conditions(t, here, told)
	for _, n := range here {
		d.agree(t, n, told)
	}
	gslbctl("status").Want(t, 1, "degraded", "agents", "gslbctl brakes release", "gslbctl undrain "+wrong,
		"the wrong address", "ow-3", "us-4")

	// The remedies: another release, undrain, and the return of the region and the node.
	d.release(t, "")
	for i, a := range d.us {
		testbed.Start(t, d.Backends[3+i])
		testbed.Start(t, a)
	}
	gslbctl("undrain", wrong).Want(t, 0)
	testbed.Signal(t, away, syscall.SIGCONT)
	testbed.Until(t, drillBound, "the agents' word to be good again", func(ctx context.Context) error {
		return d.allClaimHealthy(ctx, here)
	})
	gslbctl("brakes", "release", testbed.AppName).Want(t, 0)
	gslbctl("brakes", "release", "--region", "eu").Want(t, 0) // the region is held, if its agents fail one by one
	d.conditions(t, here, nil)
	testbed.Until(t, drillBound, "status to say healthy", func(context.Context) error {
		if r := gslbctl("status"); r.Code != 0 || !strings.Contains(r.Output, "healthy: nothing needs attention") {
			return fmt.Errorf("it ends with %d: %s", r.Code, r.Output)
		}
		return nil
	})
	if dark := stop(); len(dark) > 0 {
		t.Errorf("%d answers had no address: %v", len(dark), dark[:min(len(dark), 5)])
	}
	for _, n := range here {
		d.audited(t, n)
	}
}

// hears returns an error unless a node receives messages from another node.
func hears(ctx context.Context, n, other *harness.Node) error {
	list, err := n.Client.GossipNodes(ctx)
	if err != nil {
		return err
	}
	for _, node := range list.Nodes {
		if node.Name == other.Name && node.Status == api.GossipAlive {
			return nil
		}
	}
	return fmt.Errorf("it hears %d others", len(list.Nodes)-1)
}

// release restarts the agents of eu with a check of an address, or of the backend itself. The agents are killed first,
// because a leave message would remove their backends.
func (d *drill) release(t *testing.T, address string) {
	t.Helper()
	for _, a := range d.eu {
		testbed.Kill(t, a)
	}
	for _, a := range d.eu {
		a.File.Agent.Backends[0].HealthCheck.Address = address
		testbed.Start(t, a)
	}
}

// agree checks that /api/health and the metric for alerts agree with the conditions.
func (d *drill) agree(t *testing.T, n *harness.Node, kinds []api.ConditionKind) {
	t.Helper()
	health, err := n.Client.Health(t.Context())
	if err != nil || health.Status != api.ServiceDegraded {
		t.Errorf("%s: /api/health says %+v, %v", n.Name, health, err)
	}
	metrics := testbed.Scrape(t, n.Prom.String())
	for _, kind := range kinds {
		if want := fmt.Sprintf("gslb_overwatch_conditions{kind=%q} ", kind); !strings.Contains(metrics, want) ||
			strings.Contains(metrics, want+"0\n") {
			t.Errorf("%s: the metric does not count %s", n.Name, kind)
		}
	}
}

func (d *drill) allClaimHealthy(ctx context.Context, nodes []*harness.Node) error {
	for _, n := range nodes {
		list, err := n.Client.Backends(ctx, api.BackendFilter{})
		if err != nil {
			return err
		}
		for _, b := range list.Backends {
			if b.AgentHealthy == nil || !*b.AgentHealthy {
				return fmt.Errorf("%s: %s: %s", n.Name, b.ID, b.Reason)
			}
		}
	}
	return nil
}

// audited checks that a node's audit log contains each operator action.
func (d *drill) audited(t *testing.T, n *harness.Node) {
	t.Helper()
	list, err := n.Client.AuditLog(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, e := range list.Entries {
		actions = append(actions, e.Action)
	}
	for _, action := range []string{"hold", "release", "drain", "undrain"} {
		if !slices.Contains(actions, action) {
			t.Errorf("%s: the audit log has %v and no %s", n.Name, actions, action)
		}
	}
}
