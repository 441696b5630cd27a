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
	fleetPing = 2 * time.Second // what gslb-agent does
	// fleetServices is the number of names that the agents share.
	fleetServices = 100
	// fleetBound is the promised time until all of them are registered at a node that has never seen one of them.
	fleetBound = 60 * time.Second
	// fleetMemory and fleetCores are the most that 10 000 agents may cost the node, all of its memory counted.
	fleetMemory = 400 << 20
	fleetCores  = 0.25
)

// A node that has never seen any of them registers a whole fleet of agents within a minute, and then costs little: real
// packets and streams on loopback, each agent from an address of its own, with pings, enrolments, heartbeats and
// repetitions as gslb-agent sends them. GSLB_FULL=1 makes it the promised
// number of 10 000 agents; otherwise there are 1000.
func TestFleet_RegistersWithinAMinuteAndCostsAQuarterOfACore(t *testing.T) {
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

	testbed.Pause(t.Context(), testbed.InFull(fleet.Interval, fleet.Interval/5)) // what the start left to do is done
	from, used, lost := time.Now(), testbed.Cpu(t, n.PID()), f.repeated.Load()
	testbed.Pause(t.Context(), fleet.Interval) // one heartbeat of each, five pings
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
	// What an agent waits a second for goes unacknowledged when the machine stops for that long, which is judged at rest.
	if allowed := count / 100; int(lost) > allowed {
		t.Logf("%d messages were not acknowledged, on either path, allowed are %d on a machine at rest", lost, allowed)
		if testbed.Timed || int(lost) > count {
			t.Fail()
		}
	}
}

// newFleet prepares a node, whose own checks are off so that only the agents cost anything, and its agents.
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

// fleetRun counts what has happened to the agents so far.
type fleetRun struct {
	registered atomic.Int64 // agents whose first heartbeat was acknowledged
	hellos     atomic.Int64 // that failed
	repeated   atomic.Int64 // messages that were acknowledged on no path
	trouble    atomic.Value // string
}

// run lets the agents live until the test ends.
func (f *fleetRun) run(t *testing.T, agents []*fleet.Agent) { t.Cleanup(f.begin(agents)) }

// begin lets the agents live until end is called.
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

// live lets an agent come back and go on from the moment at which its node is back, which it notices by its next ping.
func (f *fleetRun) live(ctx context.Context, a *fleet.Agent) {
	if !fleet.Wait(ctx, rand.N(fleetPing+250*time.Millisecond)) {
		return
	}
	spread := 2 * time.Second // doubled with each refusal up to 15 s, as gslb-agent does
	for err := a.Hello(); err != nil; err = a.Hello() {
		f.hellos.Add(1)
		f.trouble.Store(err.Error())
		if !fleet.Wait(ctx, 250*time.Millisecond+rand.N(spread)) {
			return
		}
		spread = min(2*spread, 15*time.Second)
	}
	patience := 500 * time.Millisecond // for an Enrol's answer, doubled with each that stays away, as gslb-agent does
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
		_ = a.Ping() // a node that is not there yet refuses it
		fleet.Wait(ctx, fleetPing)
	}
}
