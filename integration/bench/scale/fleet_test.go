package scale_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/fleet"
	"gslb.internal/integration/harness/testbed"
)

const (
	fleetPing = 2 * time.Second // ping interval of gslb-agent
	// fleetServices is the number of services that the agents share.
	fleetServices = 100
	// fleetBound is the promised time until an entire fleet is registered at a new node. A node pins 100 agents a second.
	fleetBound = 90 * time.Second
	// fleetMemory and fleetCores are the maximum costs of 10 000 agents for the node, including all of its memory.
	fleetMemory = 400 << 20
	fleetCores  = 0.25
)

// A new node registers a whole fleet of agents within 90 seconds, and then uses little CPU time. The test uses real
// packets and streams on loopback, each agent from a separate address, with pings, enrolments, heartbeats and retries
// as in gslb-agent. With GSLB_FULL=1 the fleet has the promised number of 10 000 agents, otherwise 1000.
func TestFleet_RegistersInTimeAndCostsAQuarterOfACore(t *testing.T) {
	count := testbed.InFull(10_000, 1000)
	n, agents := newFleet(t, count)
	testbed.Start(t, n)
	ready, cancel := context.WithTimeout(t.Context(), testbed.StartBound)
	defer cancel()
	if err := n.Ready(ready); err != nil {
		t.Fatal(err)
	}
	idle := testbed.Memory(t, n.PID())

	begin, idleCPU := time.Now(), testbed.Cpu(t, n.PID())
	f := &fleetRun{}
	f.run(t, agents)
	testbed.Until(t, fleetBound, fmt.Sprint(count, " agents to be registered"), func(context.Context) error {
		if got := f.registered.Load(); got < int64(count) {
			return fmt.Errorf("%d are, %d Hellos and %d messages had to be repeated, the last because of: %v",
				got, f.hellos.Load(), f.repeated.Load(), f.trouble.Load())
		}
		return nil
	})
	t.Logf("%d agents with %d backends each were registered after %s and %s of processor time; Hellos tried again: %d, "+
		"messages: %d", count, fleet.BackendsEach,
		time.Since(begin).Round(10*time.Millisecond), testbed.Cpu(t, n.PID())-idleCPU, f.hellos.Load(),
		f.repeated.Load())

	testbed.Pause(t.Context(), testbed.InFull(fleet.Interval, fleet.Interval/5)) // the remaining work of the start ends
	from, used, lost := time.Now(), testbed.Cpu(t, n.PID()), f.repeated.Load()
	testbed.Pause(t.Context(), fleet.Interval) // a heartbeat and five pings of each agent
	spent, over := testbed.Cpu(t, n.PID())-used, time.Since(from).Seconds()
	cores := spent.Seconds() / over
	rss := testbed.Memory(t, n.PID())
	lost = f.repeated.Load() - lost
	t.Logf("then: %.3f of a core, %d MiB in memory (%d MiB before), %d messages unacknowledged",
		cores, rss>>20, idle>>20, lost)
	if cores > fleetCores {
		t.Errorf("%.3f of a core, allowed are %.2f", cores, fleetCores)
	}
	if rss > fleetMemory {
		t.Errorf("%d MiB in memory, allowed are %d", rss>>20, fleetMemory>>20)
	}
	for name, want := range map[string]int{"gslb_overwatch_agents_active": count,
		"gslb_overwatch_backends_healthy": count * fleet.BackendsEach} {
		testbed.ComesTo(t, n, name, float64(want))
	}
	// If the machine stalls for a second, messages are unacknowledged. The limit is strict only on an idle machine.
	if allowed := count / 100; int(lost) > allowed {
		t.Logf("%d messages were not acknowledged, on either path, allowed are %d on a machine at rest", lost, allowed)
		if testbed.Timed || int(lost) > count {
			t.Fail()
		}
	}
}

// newFleet prepares a node without own checks, so that only the agents use resources, and its agents.
func newFleet(t *testing.T, count int) (*harness.Node, []*fleet.Agent) {
	t.Helper()
	var domains []harness.Domain
	for i := range fleetServices {
		domains = append(domains, harness.Domain{Name: fmt.Sprintf("s%d.test.gslb.test", i), RoutingAlgorithm: "weighted",
			Regions: []string{"eu"}, TTL: 30})
	}
	c := testbed.NewCluster(t, harness.Fast(), domains...)
	n := testbed.AddNode(t, c, "ow-1", "eu", map[string][]harness.Server{"eu": nil})
	n.File.DNS.Zones = []string{"test.gslb.test"}
	n.File.Overwatch.Validation.Enabled = false
	n.File.Overwatch.Stale.Threshold, n.File.Overwatch.Stale.RemoveAfter = 3*fleet.Interval, 5*time.Minute
	cipher, dir, agents := fleet.Cipher(t, c.GossipKey), t.TempDir(), make([]*fleet.Agent, count)
	for i := range agents {
		service := domains[i%fleetServices].Name
		var err error
		if agents[i], err = fleet.New(dir, i, cipher, n.Gossip, service, c.Tokens[service], nil); err != nil {
			t.Fatal(err)
		}
	}
	return n, agents
}

// fleetRun has counters of the agents.
type fleetRun struct {
	registered atomic.Int64 // agents with an acknowledged heartbeat
	hellos     atomic.Int64 // failed Hellos
	repeated   atomic.Int64 // messages without acknowledgement as a datagram and as a stream
	trouble    atomic.Value // string
}

// run runs the agents until the end of the test.
func (f *fleetRun) run(t *testing.T, agents []*fleet.Agent) { t.Cleanup(f.begin(agents)) }

// begin runs the agents until end is called.
func (f *fleetRun) begin(agents []*fleet.Agent) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	for _, a := range agents {
		group.Go(func() { f.live(ctx, a) })
		group.Go(func() { keepPinging(ctx, a) })
	}
	return func() {
		cancel()
		for _, a := range agents {
			a.Close()
		}
		group.Wait()
	}
}

// live makes an agent reconnect and then send heartbeats. The agent notices the return of its node at its next ping.
func (f *fleetRun) live(ctx context.Context, a *fleet.Agent) {
	if !fleet.Wait(ctx, rand.N(fleetPing+250*time.Millisecond)) {
		return
	}
	spread := 2 * time.Second // doubled after each failure up to 15 s, as in gslb-agent
	for err := a.Hello(); err != nil; err = a.Hello() {
		f.hellos.Add(1)
		f.trouble.Store(err.Error())
		if !fleet.Wait(ctx, 250*time.Millisecond+rand.N(spread)) {
			return
		}
		spread = min(2*spread, 15*time.Second)
	}
	patience := 500 * time.Millisecond // timeout of Enrol, doubled after each timeout, as in gslb-agent
	for try := 0; ; try++ {
		err := a.Enrol(try%2 == 1, patience-rand.N(patience/4))
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return
		}
		f.failed(ctx, err)
		var refusal *agent.Refusal
		if errors.As(err, &refusal) {
			fleet.Wait(ctx, patience)
		}
		patience = min(2*patience, 15*time.Second)
	}
	for first := true; ctx.Err() == nil; {
		if err := a.Beat(); err != nil {
			f.failed(ctx, err)
		} else if first {
			first = false
			f.registered.Add(1)
		}
		fleet.Wait(ctx, fleet.Interval-rand.N(fleet.Interval/10))
	}
}

func (f *fleetRun) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		f.repeated.Add(1)
		f.trouble.Store(err.Error())
	}
}

func keepPinging(ctx context.Context, a *fleet.Agent) {
	if !fleet.Wait(ctx, rand.N(fleetPing)) {
		return
	}
	for ctx.Err() == nil {
		_ = a.Ping() // fails until the node has started
		fleet.Wait(ctx, fleetPing)
	}
}
