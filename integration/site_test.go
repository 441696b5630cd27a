package integration_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
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

// patience is how long a client waits for an answer.
const patience = 20 * time.Second

// hang is how long a state is waited for at the least, whatever is promised: only a program that hangs takes it.
const hang = 3 * time.Minute

// timed says whether promises in seconds are judged: by `make bench-times`, on a machine that has nothing else to do.
var timed = os.Getenv("GSLB_TIMED") != ""

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

// until waits for a state, and fails the test with the last error when it does not come about. A machine that is busy
// makes it late, which is no failure; the promise is what inTime makes of it.
func until(t *testing.T, promise time.Duration, what string, cond func(context.Context) error) {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), promise+hang)
	defer cancel()
	var asked time.Time // how long the answer to that takes is another matter
	err := harness.Until(ctx, what, func(ctx context.Context) error {
		asked = time.Now()
		return cond(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	inTime(t, what, promise, began, asked)
}

// inTime holds what began and ended at these times against a promise. Longer is told, and a failure where promises in
// seconds are judged.
func inTime(t *testing.T, what string, promise time.Duration, began, ended time.Time) {
	t.Helper()
	took := ended.Sub(began)
	if took <= promise {
		return
	}
	t.Logf("waited %s for %s, promised are %s on a machine at rest", took.Round(time.Millisecond), what, promise)
	if timed {
		t.Fail()
	}
}

// during does something again and again for a while. It is for what must not happen, which no state tells the end of.
func during(t *testing.T, span, every time.Duration, do func()) {
	t.Helper()
	for end := time.Now().Add(span); time.Now().Before(end) && rest(t.Context(), every); {
		do()
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

// holds checks what is so while all backends that are well are answered. A check that a busy machine made late may have
// taken one out for a moment: it is judged anew twice.
func (s *site) holds(t *testing.T, what string, judge func() error) {
	t.Helper()
	for again := 2; ; again-- {
		err := judge()
		if err == nil {
			return
		}
		if again == 0 {
			t.Errorf("%s: %v", what, err)
			return
		}
		t.Logf("%s: %v; judged anew", what, err)
		for _, n := range s.nodes {
			for i, b := range s.backends {
				if n.Running() && b.Running() && i < len(s.agents) && s.agents[i].Running() {
					s.status(t, n, b, s.Timing.Recovery(), wantSound)
				}
			}
		}
	}
}

// noFailures checks that a node gave a good answer to every lookup since (I1).
func (s *site) noFailures(t *testing.T, n *harness.Node, since time.Time) {
	t.Helper()
	for _, a := range s.watch.Since(n, appName, since) {
		if !a.Good() {
			t.Errorf("%s failed a lookup %s after all was ready: %+v", n.Name, a.At.Sub(s.began).Round(time.Millisecond), a)
			return
		}
	}
}
