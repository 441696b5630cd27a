package faults_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/relay"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A node without a connection to its agents continues with its own checks: it answers with running backends, and not
// with stopped ones. After the connection is restored, all functions recover automatically. The other node is not
// affected.
//
// Fault 6: The network between an agent and a node is cut in both directions, in one direction, or for UDP only.
// Answers stay correct, and reports continue after the cut.
func TestPartition_ANodeCutOffFromItsAgentsServesGoodAnswers(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 2, 3)
	cutOff, other := s.Nodes[0], s.Nodes[1]
	var relays []*relay.Relay // each agent has a way of its own to the node
	for _, a := range s.Agents {
		r := relay.New(t, cutOff.Gossip)
		a.File.Agent.Gossip.OverwatchNodes[0] = r.At.String()
		relays = append(relays, r)
	}
	s.StartAll(t)

	for _, r := range relays {
		r.Cut.Store(true)
	}
	for _, b := range s.Backends {
		s.Status(t, cutOff, b, s.Timing.StaleThreshold+2*time.Second+testbed.StaleResolution,
			testbed.StatusIs(api.EffectiveStale, true))
		s.Status(t, other, b, time.Second, testbed.WantSound)
	}
	killed := testbed.Kill(t, s.Backends[0])
	s.Gone(t, cutOff, s.Backends[0].At.Addr(), killed, s.Timing.OwnDetection())
	for _, b := range s.Backends[1:] {
		s.Answered(t, cutOff, b.At.Addr(), killed.Add(time.Second), 5*time.Second)
	}

	for _, r := range relays {
		r.Cut.Store(false)
	}
	for _, b := range s.Backends[1:] {
		s.Status(t, cutOff, b, testbed.HeardAgainBound, func(v api.Backend) error {
			if err := testbed.WantSound(v); err != nil {
				return err
			}
			if v.AgentHealthy == nil || !*v.AgentHealthy {
				return fmt.Errorf("its agent is not heard again")
			}
			return nil
		})
	}
	for _, n := range s.Nodes {
		s.NoFailures(t, n, s.Began)
	}
}

// frontDoor forwards connections to a backend. Nodes and clients use it. The agent connects to the backend directly.
type frontDoor struct {
	to netip.AddrPort

	mu       sync.Mutex
	listener net.Listener
	at       netip.AddrPort
}

func newFrontDoor(t *testing.T, at netip.AddrPort, to netip.AddrPort) *frontDoor {
	t.Helper()
	f := &frontDoor{at: at, to: to}
	f.open(t)
	t.Cleanup(f.shut)
	return f
}

func (f *frontDoor) open(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", f.at.String())
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.listener = l
	f.mu.Unlock()
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go f.pass(in)
		}
	}()
}

// shut rejects all new connections.
func (f *frontDoor) shut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listener.Close()
}

func (f *frontDoor) pass(in net.Conn) {
	defer in.Close()
	out, err := net.DialTimeout("tcp", f.to.String(), time.Second)
	if err != nil {
		return
	}
	defer out.Close()
	bound := time.Now().Add(5 * time.Second)
	in.SetDeadline(bound)
	out.SetDeadline(bound)
	go io.Copy(out, in)
	io.Copy(in, out)
}

// behindDoors gives each backend a front door at another address. The agents report this address and check the backend
// behind it. It returns the backends as clients see them.
func behindDoors(t *testing.T, s *testbed.Site) (seen []*harness.Backend, doors []*frontDoor) {
	t.Helper()
	for i, b := range s.Backends {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 5, byte(i + 1)}), b.At.Port())
		doors = append(doors, newFrontDoor(t, at, b.At))
		seen = append(seen, &harness.Backend{Unit: b.Unit, At: at})
		watched := &s.Agents[i].File.Agent.Backends[0]
		watched.Address, watched.HealthCheck.Address = at.Addr(), b.At.Addr().String()
	}
	return seen, doors
}

// A node whose own checks all fail, while the agents report no failure, is disconnected itself: it ignores its own
// failed checks and uses the agent reports, including the failure of a backend, until its checks succeed.
//
// Fault 6.
func TestPartition_ANodeWhoseOwnChecksAreCutOffBelievesTheAgents(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 3)
	n := s.Nodes[0]
	seen, doors := behindDoors(t, s)
	startSeen(t, s, seen)

	for _, d := range doors {
		d.shut()
	}
	suspended := func(want float64) func(context.Context) error {
		return func(context.Context) error {
			if got := testbed.Metric(t, n, "gslb_overwatch_validation_suspended"); got != want {
				return fmt.Errorf("it is %v", got)
			}
			return nil
		}
	}
	testbed.Until(t, s.Timing.OwnDetection()+2*time.Second, "the node to set its own verdicts aside", suspended(1))
	cut := time.Now()
	for _, b := range seen {
		s.Answered(t, n, b.At.Addr(), cut, s.Timing.OwnDetection())
	}
	killed := testbed.Kill(t, s.Backends[0])
	s.Gone(t, n, seen[0].At.Addr(), killed, s.Timing.Detection())
	for _, b := range seen[1:] {
		s.Answered(t, n, b.At.Addr(), killed.Add(s.Timing.Detection()), 5*time.Second)
	}

	for _, d := range doors {
		d.open(t)
	}
	testbed.Until(t, s.Timing.Recovery()+5*time.Second, "the node to believe its own checks again", suspended(0))
	for _, b := range seen[1:] {
		s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
	}
	s.NoFailures(t, n, s.Began)
}

// startSeen is startAll for backends behind doors.
func startSeen(t *testing.T, s *testbed.Site, seen []*harness.Backend) {
	t.Helper()
	for i, b := range s.Backends {
		testbed.Start(t, b)
		testbed.Start(t, s.Agents[i])
	}
	for _, n := range s.Nodes {
		testbed.Start(t, n)
	}
	for _, n := range s.Nodes {
		s.Ready(t, n)
		for _, b := range seen {
			s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
		}
	}
	s.WatchAnswers(t)
}

// An agent that always reports healthy keeps its stopped backend in the answers only until the node's own checks fail.
// The node shows the difference. Other backends are not affected.
//
// Fault 3: An agent reports a dead backend as healthy. The own check removes the backend within the detection time
// of the node.
func TestLie_AnAgentThatAlwaysSaysHealthyIsContradicted(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	n, dead, other := s.Nodes[0], s.Backends[0], s.Backends[1]
	s.Agents[0].File.Agent.Backends[0].HealthCheck.Address = other.At.Addr().String() // it looks elsewhere
	s.StartAll(t)

	killed := testbed.Kill(t, dead)
	s.Gone(t, n, dead.At.Addr(), killed, s.Timing.OwnDetection())
	s.Status(t, n, dead, time.Second, func(v api.Backend) error {
		if v.AgentHealthy == nil || !*v.AgentHealthy || v.ValidationHealthy == nil || *v.ValidationHealthy {
			return fmt.Errorf("both verdicts should be shown: %+v", v)
		}
		return testbed.WantStatus(v, api.EffectiveUnhealthy, false)
	})
	testbed.ComesTo(t, n, "gslb_overwatch_disagreements", 1)
	s.Status(t, n, other, time.Second, testbed.WantSound)
	s.NoFailures(t, n, s.Began)
}

// All agents and backends of a region fail at the same time. Its clients receive answers with the other region within
// the bound, and with their own region after its recovery.
func TestSite_TheDeathOfARegionLeavesTheOther(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 4)
	n := s.Nodes[0]
	n.File.Regions = append(n.File.Regions, harness.Region{Name: "us"})
	for i := range n.File.Domains {
		n.File.Domains[i].Regions = []string{"eu", "us"}
	}
	for _, a := range s.Agents[2:] {
		a.File.Agent.Identity.Region = "us"
	}
	s.StartAll(t)

	var killed time.Time
	for i, b := range s.Backends[:2] {
		for _, kill := range []func() (time.Time, error){s.Agents[i].Kill, b.Kill} {
			at, err := kill()
			if err != nil {
				t.Fatal(err)
			}
			killed = at
		}
	}
	for _, b := range s.Backends[:2] {
		s.Gone(t, n, b.At.Addr(), killed, s.Timing.OwnDetection())
	}
	for _, b := range s.Backends[2:] {
		s.Answered(t, n, b.At.Addr(), killed.Add(s.Timing.OwnDetection()), 5*time.Second)
	}
	for i, b := range s.Backends[:2] {
		testbed.Start(t, b)
		testbed.Start(t, s.Agents[i])
	}
	back := time.Now()
	for _, b := range s.Backends[:2] {
		s.Answered(t, n, b.At.Addr(), back, testbed.StartBound)
	}
	s.NoFailures(t, n, s.Began)
}

// A backend that fails and recovers once a second causes a bounded number of publications and log lines, and no failed
// lookup.
//
// Fault 4: The reports of an agent flap. Publications, log lines and CPU time are bounded, and only the backends of
// the agent change.
func TestFlap_OneHertzIsBoundedInAnswersAndLog(t *testing.T) {
	t.Parallel()
	const seconds = 12
	s := testbed.StartSite(t, 1, 2)
	n, victim := s.Nodes[0], s.Backends[0]
	const publications = "gslb_dns_publications_total"
	lines := func() int { return linesAbout(victim, n.Unit, s.Agents[0].Unit) }
	before, told := testbed.Metric(t, n, publications), lines()
	began := time.Now()
	tick := time.NewTicker(time.Second / 2)
	defer tick.Stop()
	for i := range 2 * seconds {
		testbed.Tell(t, victim, []string{"/unhealthy", "/healthy"}[i%2])
		<-tick.C
	}
	took := time.Since(began)
	published := testbed.Metric(t, n, publications) - before
	logged := lines() - told
	t.Logf("%v publications and %d lines in %s", published, logged, took.Round(time.Second))
	if published == 0 {
		t.Error("nothing was published: the backend did not flap at all")
	}
	// Agent and node each detect at most two changes per second.
	if most := 4 * took.Seconds(); published > most {
		t.Errorf("%v publications, want %v at most", published, most)
	}
	if logged > seconds {
		t.Errorf("%d lines in the logs of node and agent in %s, want %d at most", logged, took.Round(time.Second), seconds)
	}
	s.Status(t, n, victim, testbed.StartBound, testbed.WantSound)
	s.NoFailures(t, n, s.Began)
}
