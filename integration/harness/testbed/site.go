package testbed

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// AppName is the load-balanced name of the tests.
const AppName = "app.test.gslb.test"

// OtherName is a second service, with a separate token and separate backends.
const OtherName = "other.test.gslb.test"

// Pace is the interval between two queries of a watch: the resolution of every measured time.
const Pace = 10 * time.Millisecond

// QuietAnswers is the number of consecutive answers without an address that prove its removal. All weights are equal in
// this package and there are at most three backends, so that each backend is in several of these answers.
const QuietAnswers = 30

// StartBound is the promised time until a cluster or a program is ready, on a busy machine.
const StartBound = 30 * time.Second

// Patience is the time that a client waits for an answer.
const Patience = 20 * time.Second

// Site is the usual cluster of tests: nodes, and backends with an agent each.
type Site struct {
	*harness.Cluster
	Nodes    []*harness.Node
	Agents   []*harness.Agent
	Backends []*harness.Backend
	Watch    *harness.Watch
	Began    time.Time // time when all programs were ready and watched
}

// NewCluster prepares a cluster without programs. It is closed at the end of the test, and prints its story if the test
// fails.
func NewCluster(t testing.TB, timing harness.Timing, domains ...harness.Domain) *harness.Cluster {
	t.Helper()
	b := Binaries(t)
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

// AddNode prepares a node of a cluster. servers has the static backends of each region of the node.
func AddNode(t testing.TB, c *harness.Cluster, name, region string, servers map[string][]harness.Server) *harness.Node {
	t.Helper()
	n, err := c.AddNode(name, region, servers)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// NewSite prepares a site and starts no program. All programs of the site end with the test, including later additions.
func NewSite(t *testing.T, nodes, backends int) *Site {
	t.Helper()
	domain := harness.Domain{RoutingAlgorithm: "round-robin", Regions: []string{"eu"}, TTL: 5}
	app, other := domain, domain
	app.Name, other.Name = AppName, OtherName
	c := NewCluster(t, harness.Fast(), app, other)
	s := &Site{Cluster: c}
	s.JoinBackends(t, backends)
	for i := range nodes {
		n := AddNode(t, c, fmt.Sprintf("ow-%d", i+1), "eu", map[string][]harness.Server{"eu": nil})
		n.File.DNS.Zones = []string{"test.gslb.test"}
		s.Nodes = append(s.Nodes, n)
	}
	for i, b := range s.Backends {
		s.Agents = append(s.Agents, s.JoinAgent(t, fmt.Sprintf("agent-%d", i+1), b))
	}
	return s
}

// JoinBackends prepares backends b1, b2, ... at separate loopback addresses, all on the same port.
func (s *Site) JoinBackends(t *testing.T, count int) {
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
		s.Backends = append(s.Backends, byName[fmt.Sprintf("b%d", i+1)])
	}
}

// JoinAgent prepares another agent, which reports one backend.
func (s *Site) JoinAgent(t *testing.T, name string, b *harness.Backend) *harness.Agent {
	t.Helper()
	a, err := s.AddAgent(name, "eu", s.Nodes, []harness.AgentBackend{{
		Service: AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// StartSite is NewSite and StartAll.
func StartSite(t *testing.T, nodes, backends int) *Site {
	t.Helper()
	s := NewSite(t, nodes, backends)
	s.StartAll(t)
	return s
}

// StartAll is StartPrograms and WatchAnswers.
func (s *Site) StartAll(t *testing.T) {
	t.Helper()
	s.StartPrograms(t)
	s.WatchAnswers(t)
}

// StartPrograms starts all programs and waits until each node considers each backend with an agent healthy.
func (s *Site) StartPrograms(t *testing.T) {
	t.Helper()
	for _, b := range s.Backends {
		Start(t, b)
	}
	for _, n := range s.Nodes {
		Start(t, n)
	}
	for _, a := range s.Agents {
		Start(t, a)
	}
	for _, n := range s.Nodes {
		s.Ready(t, n)
		for _, b := range s.Backends[:len(s.Agents)] {
			s.Status(t, n, b, StartBound, WantSound)
		}
	}
}

// Start starts one program.
func Start(t *testing.T, p interface{ Start() error }) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends a program with SIGTERM and waits for its end.
func Stop(t *testing.T, p interface{ Stop() error }) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}

// Kill ends a program with SIGKILL and returns the time at which the signal was sent.
func Kill(t *testing.T, p interface{ Kill() (time.Time, error) }) time.Time {
	t.Helper()
	at, err := p.Kill()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Ends waits until a program ends without a signal from the test.
func Ends(t *testing.T, p interface{ Running() bool }, bound time.Duration) {
	t.Helper()
	Until(t, bound, "the program to end", func(context.Context) error {
		if p.Running() {
			return errors.New("it runs")
		}
		return nil
	})
}

// Signal sends a signal to a program.
func Signal(t *testing.T, p interface{ Signal(syscall.Signal) error }, signal syscall.Signal) {
	t.Helper()
	if err := p.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// Ready waits until a node reports that it is ready.
func (s *Site) Ready(t *testing.T, n *harness.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), StartBound+Hang)
	defer cancel()
	if err := n.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

// WatchAnswers queries all nodes for AppName from now until the test ends.
func (s *Site) WatchAnswers(t *testing.T) {
	t.Helper()
	s.Watch = harness.NewWatch(s.Nodes, []string{AppName}, Pace)
	s.Watch.Patience = Hang
	s.RunWatch(t, s.Watch)
	s.Began = time.Now()
}

// RunWatch runs a watch from now until the test ends.
func (s *Site) RunWatch(t *testing.T, w *harness.Watch) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
}

// Status waits until want returns nil for a node's view of a backend of AppName, and returns the view.
func (s *Site) Status(t *testing.T, n *harness.Node, b *harness.Backend, bound time.Duration,
	want func(api.Backend) error) api.Backend {
	t.Helper()
	var view api.Backend
	Until(t, bound, fmt.Sprintf("%s's view of %s", n.Name, b.Name), func(ctx context.Context) error {
		list, err := n.Client.Backends(ctx, api.BackendFilter{Service: AppName})
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

// WantSound returns nil for a backend that both its agent and the node's own check report as healthy. Without a
// completed own check, a node detects failures earlier, so times in that state are not typical.
func WantSound(v api.Backend) error {
	if v.ValidationHealthy == nil || !*v.ValidationHealthy {
		return errors.New("the node itself has not found it healthy")
	}
	return WantStatus(v, api.EffectiveHealthy, true)
}

// SoundSince is WantSound for a backend with a report of its agent after a time.
func SoundSince(since time.Time) func(api.Backend) error {
	return func(v api.Backend) error {
		if v.AgentLastSeen == nil || v.AgentLastSeen.Before(since) {
			return errors.New("its agent has not reported")
		}
		return WantSound(v)
	}
}

// WantStatus returns nil for a backend with a status, if it may serve as wanted.
func WantStatus(v api.Backend, status api.EffectiveStatus, serve bool) error {
	if v.EffectiveStatus != status || v.MayServe != serve {
		return fmt.Errorf("it is %s, may serve: %t (%s)", v.EffectiveStatus, v.MayServe, v.Reason)
	}
	return nil
}

// StatusIs is WantStatus for Status.
func StatusIs(status api.EffectiveStatus, serve bool) func(api.Backend) error {
	return func(v api.Backend) error { return WantStatus(v, status, serve) }
}

// Gone waits until the last QuietAnswers answers of a node lack an address. It returns the time of the last answer with
// the address, and fails the test if that time exceeds bound.
func (s *Site) Gone(t *testing.T, n *harness.Node, addr netip.Addr, from time.Time, bound time.Duration) time.Time {
	t.Helper()
	var last time.Time
	Until(t, bound+Patience, fmt.Sprintf("%s to answer without %s", n.Name, addr), func(context.Context) error {
		var quiet int
		if last, quiet = s.Watch.LastWith(n, AppName, addr, from); quiet < QuietAnswers {
			return fmt.Errorf("only %d answers without the address", quiet)
		}
		return nil
	})
	InTime(t, fmt.Sprintf("%s to answer without %s", n.Name, addr), bound, from, last)
	return last
}

// Answered waits until a node answers with an address, and returns the time of the first such answer.
func (s *Site) Answered(t *testing.T, n *harness.Node, addr netip.Addr, from time.Time, bound time.Duration) time.Time {
	t.Helper()
	var first time.Time
	Until(t, bound, fmt.Sprintf("%s to answer with %s", n.Name, addr), func(context.Context) error {
		if first = s.Watch.FirstWith(n, AppName, addr, from); first.IsZero() {
			return errors.New("no answer contains the address")
		}
		return nil
	})
	return first
}

// Holds calls judge, which checks a condition that is true while all healthy backends are in the answers. On a busy
// machine a late check can remove a backend for a short time, so Holds calls judge up to three times.
func (s *Site) Holds(t *testing.T, what string, judge func() error) {
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
		t.Logf("%s: %v; next attempt", what, err)
		for _, n := range s.Nodes {
			for i, b := range s.Backends {
				if n.Running() && b.Running() && i < len(s.Agents) && s.Agents[i].Running() {
					s.Status(t, n, b, s.Timing.Recovery(), WantSound)
				}
			}
		}
	}
}

// NoFailures checks that a node returned a good answer to every query that began since a time (I1), and that it still
// answers if it is running.
func (s *Site) NoFailures(t *testing.T, n *harness.Node, since time.Time) {
	t.Helper()
	if n.Running() {
		AnswersStill(t, s.Watch, n, AppName)
	}
	for _, a := range s.Watch.Since(n, AppName, since) {
		if a.Asked().Before(since) {
			continue
		}
		InTime(t, "an answer of "+n.Name, harness.AnswerBound, a.Asked(), a.At)
		if !a.Good() {
			t.Errorf("%s failed a lookup %s after all was ready: %+v", n.Name, a.At.Sub(s.Began).Round(time.Millisecond), a)
			return
		}
	}
}

// AnswersStill waits until a query that begins at or after the call is answered.
func AnswersStill(t *testing.T, w *harness.Watch, n *harness.Node, name string) {
	t.Helper()
	from := time.Now()
	Until(t, harness.AnswerBound, n.Name+" to answer", func(context.Context) error {
		for _, a := range w.Since(n, name, from) {
			if a.Err == nil && !a.Asked().Before(from) {
				return nil
			}
		}
		return errors.New("no answer")
	})
}

// Pins returns the certificate fingerprints of all agents of a node, by agent ID. It fails the test unless their number
// equals the number of agents of the site.
func (s *Site) Pins(t *testing.T, n *harness.Node) map[string]string {
	t.Helper()
	list, err := n.Client.Agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pins := map[string]string{}
	for _, a := range list.Agents {
		pins[a.AgentID] = a.Fingerprint
	}
	if len(pins) != len(s.Agents) {
		t.Fatalf("%s knows the agents %v, there are %d", n.Name, pins, len(s.Agents))
	}
	return pins
}

// StartNodes starts nodes that exchange keys, and waits until each has keys.
func (s *Site) StartNodes(t *testing.T, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		Start(t, n)
	}
	for _, n := range nodes {
		Until(t, KeyBound, n.Name+" to answer", func(ctx context.Context) error {
			_, err := n.Client.DSRecords(ctx)
			return err
		})
	}
}
