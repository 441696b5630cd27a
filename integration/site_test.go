package integration_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// appName is the name that the tests steer.
const appName = "app.test.gslb.test"

// otherName is a second service, with a token and backends of its own.
const otherName = "other.test.gslb.test"

// pace is how often a watch asks: the resolution of what is measured.
const pace = 10 * time.Millisecond

// quietAnswers is after how many answers in a row without an address it counts as gone. All weights are equal here and
// there are at most three backends, so each has its turn many times.
const quietAnswers = 30

// startBound is how long a cluster or a program may take to be ready on a busy machine.
const startBound = 30 * time.Second

// patience is how much longer than it should take something is waited for, so that a test says how long it took.
const patience = 20 * time.Second

// clock is what promises in wall-clock time are held against: a machine that stops for a second breaks none of them.
var clock = harness.StartClock()

// site is a cluster as most tests want it: nodes, and backends that have an agent each.
type site struct {
	*harness.Cluster
	nodes    []*harness.Node
	agents   []*harness.Agent
	backends []*harness.Backend
	watch    *harness.Watch
	began    time.Time // when everything was ready and watched
}

// newCluster prepares a cluster without any program. It ends with the test, which tells its story if it failed.
func newCluster(t testing.TB, timing harness.Timing, domains ...harness.Domain) *harness.Cluster {
	t.Helper()
	b, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	c, err := harness.NewCluster(harness.Options{Binaries: b, Timing: timing, Domains: domains})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing the cluster: %v", err)
		}
		if t.Failed() {
			c.Story.Tell(t.Output(), 40)
		}
	})
	return c
}

// newSite prepares a site and starts nothing. Whatever is added and started later ends with the test, which tells the
// story of the cluster if it failed.
func newSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	domain := harness.Domain{RoutingAlgorithm: "round-robin", Regions: []string{"eu"}, TTL: 5}
	app, other := domain, domain
	app.Name, other.Name = appName, otherName
	c := newCluster(t, harness.Fast(), app, other)
	s := &site{Cluster: c}
	s.addBackends(t, backends)
	for i := range nodes {
		n, err := c.AddNode(fmt.Sprintf("ow-%d", i+1), "eu", map[string][]harness.Server{"eu": nil})
		if err != nil {
			t.Fatal(err)
		}
		n.File.DNS.Zones = []string{"test.gslb.test"}
		s.nodes = append(s.nodes, n)
	}
	for i, b := range s.backends {
		s.agents = append(s.agents, s.addAgent(t, fmt.Sprintf("agent-%d", i+1), b))
	}
	return s
}

func (s *site) addBackends(t *testing.T, count int) {
	t.Helper()
	addrs := map[string]netip.Addr{}
	for i := range count {
		addrs[fmt.Sprintf("b%d", i+1)] = netip.AddrFrom4([4]byte{127, 0, 3, byte(i + 1)})
	}
	byName, err := s.AddBackends(addrs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		s.backends = append(s.backends, byName[fmt.Sprintf("b%d", i+1)])
	}
}

// addAgent prepares one more agent, which watches one backend.
func (s *site) addAgent(t *testing.T, name string, b *harness.Backend) *harness.Agent {
	t.Helper()
	a, err := s.AddAgent(name, "eu", s.nodes, []harness.AgentBackend{{
		Service: appName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// startSite is newSite and startAll.
func startSite(t *testing.T, nodes, backends int) *site {
	t.Helper()
	s := newSite(t, nodes, backends)
	s.startAll(t)
	return s
}

// startAll is startPrograms, and watches the answers from then on.
func (s *site) startAll(t *testing.T) {
	t.Helper()
	s.startPrograms(t)
	s.watchAnswers(t)
}

// startPrograms starts everything and waits until each node has found each backend healthy that has an agent.
func (s *site) startPrograms(t *testing.T) {
	t.Helper()
	for _, b := range s.backends {
		start(t, b)
	}
	for _, n := range s.nodes {
		start(t, n)
	}
	for _, a := range s.agents {
		start(t, a)
	}
	for _, n := range s.nodes {
		s.ready(t, n)
		for _, b := range s.backends[:len(s.agents)] {
			s.status(t, n, b, startBound, wantSound)
		}
	}
}

// start starts one program.
func start(t *testing.T, p interface{ Start() error }) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

func (s *site) ready(t *testing.T, n *harness.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBound)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// watchAnswers asks all nodes that run for appName from now until the test ends.
func (s *site) watchAnswers(t *testing.T) {
	t.Helper()
	s.watch = harness.NewWatch(s.nodes, []string{appName}, pace)
	s.runWatch(t, s.watch)
	s.began = time.Now()
}

// runWatch lets a watch ask from now until the test ends.
func (s *site) runWatch(t *testing.T, w *harness.Watch) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
}

// until polls a condition and fails the test with its last error when it does not come about, or later than the bound, on a machine at
// rest.
func until(t *testing.T, bound time.Duration, what string, cond func(context.Context) error) {
	t.Helper()
	began := time.Now()
	var asked time.Time // how long the answer to that takes is another matter
	for {
		ctx, cancel := context.WithDeadline(t.Context(), latest(bound, began))
		err := harness.Until(ctx, what, func(ctx context.Context) error {
			asked = time.Now()
			return cond(ctx)
		})
		early := ctx.Err() == nil
		cancel()
		if err == nil {
			break
		}
		if early || t.Context().Err() != nil || !time.Now().Before(latest(bound, began)) {
			t.Fatalf("after %s in all: %v", time.Since(began).Round(time.Millisecond), err)
		}
	}
	inTime(t, what, bound, began, asked)
}

// latest is up to when something is waited for: on a machine that is late the longer, up to a bound.
func latest(bound time.Duration, began time.Time) time.Time {
	return began.Add(min(clock.Allowed(bound, began, time.Now()), 2*(bound+patience)) + patience)
}

// inTime checks that something that began and ended at these times took no longer than promised, on a machine at rest.
func inTime(t *testing.T, what string, promise time.Duration, began, ended time.Time) {
	t.Helper()
	if took, allowed := ended.Sub(began), clock.Allowed(promise, began, ended); took > allowed {
		t.Errorf("waited %s for %s, promised are %s (%s on this machine, which was late by %s meanwhile)", took.Round(time.Millisecond), what,
			promise, allowed.Round(time.Millisecond), clock.Late(began, ended).Round(time.Millisecond))
	}
}

// status waits until a node's view of a backend of appName is as wanted, and returns the view.
func (s *site) status(t *testing.T, n *harness.Node, b *harness.Backend, bound time.Duration, want func(api.Backend) error) api.Backend {
	t.Helper()
	var view api.Backend
	until(t, bound, fmt.Sprintf("%s's view of %s", n.Name, b.Name), func(ctx context.Context) error {
		list, err := n.Client.Backends(ctx, api.BackendFilter{Service: appName})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list.Backends, func(v api.Backend) bool { return v.Address == b.At.Addr().String() })
		if i < 0 {
			return fmt.Errorf("%s is not among %d backends", b.At, len(list.Backends))
		}
		view = list.Backends[i]
		return want(view)
	})
	return view
}

// wantSound wants a backend that its agent and the node itself have both found healthy. Before its own first verdict a
// node is quicker to call a backend unhealthy, and what is measured then would not be the ordinary case.
func wantSound(v api.Backend) error {
	if v.ValidationHealthy == nil || !*v.ValidationHealthy {
		return errors.New("the node itself has not found it healthy")
	}
	return wantStatus(v, api.EffectiveHealthy, true)
}

func wantStatus(v api.Backend, status api.EffectiveStatus, serve bool) error {
	if v.EffectiveStatus != status || v.MayServe != serve {
		return fmt.Errorf("it is %s, may serve: %t (%s)", v.EffectiveStatus, v.MayServe, v.Reason)
	}
	return nil
}

// gone waits until a node's answers have been without an address for a while, and returns when the last one with it
// came.
func (s *site) gone(t *testing.T, n *harness.Node, addr netip.Addr, from time.Time, bound time.Duration) time.Time {
	t.Helper()
	var last time.Time
	until(t, bound+patience, fmt.Sprintf("%s to answer without %s", n.Name, addr), func(context.Context) error {
		var quiet int
		if last, quiet = s.watch.LastWith(n, appName, addr, from); quiet < quietAnswers {
			return fmt.Errorf("%d answers without it", quiet)
		}
		return nil
	})
	inTime(t, fmt.Sprintf("%s to answer without %s", n.Name, addr), bound, from, last)
	return last
}

// answered waits until a node answers with an address, and returns when the first such answer came.
func (s *site) answered(t *testing.T, n *harness.Node, addr netip.Addr, from time.Time, bound time.Duration) time.Time {
	t.Helper()
	var first time.Time
	until(t, bound, fmt.Sprintf("%s to answer with %s", n.Name, addr), func(context.Context) error {
		if first = s.watch.FirstWith(n, appName, addr, from); first.IsZero() {
			return errors.New("no answer has it")
		}
		return nil
	})
	return first
}

// excused says whether nothing can be said of an answer that is not good, since the machine was late.
func (s *site) excused(a harness.Answer) bool { return clock.Excuses(s.Timing, a) }

// holds checks what is so while backends that are well are answered, and again, up to a bound, where the machine was so late meanwhile or shortly before
// that checks of them may have failed.
func (s *site) holds(t *testing.T, what string, judge func() error) {
	t.Helper()
	for again := 5; ; again-- {
		began := time.Now()
		err := judge()
		if err == nil {
			return
		}
		if again == 0 || !clock.StarvedBetween(s.Timing, began, time.Now()) {
			t.Errorf("%s: %v", what, err)
			return
		}
		t.Logf("%s: %v; judged anew, as the machine was late", what, err)
		time.Sleep(s.Timing.Recovery())
	}
}

// noFailures checks that a node gave a good answer to every lookup since (I1).
func (s *site) noFailures(t *testing.T, n *harness.Node, since time.Time) {
	t.Helper()
	for _, a := range s.watch.Since(n, appName, since) {
		if !a.Good() && !s.excused(a) {
			t.Errorf("%s failed a lookup %s after all was ready: %+v; in the two seconds before, the machine was late by %s", n.Name,
				a.At.Sub(s.began).Round(time.Millisecond), a, clock.Late(a.At.Add(-2*time.Second), a.At).Round(time.Millisecond))
			return
		}
	}
}
