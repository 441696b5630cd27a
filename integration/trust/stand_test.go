package trust_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// These are the services of a stand, each with a separate token.
const (
	goodName = "good.test.gslb.test" // its server stands in the node's file and is well
	evilName = "evil.test.gslb.test" // whose token the attacker has
	calmName = "calm.test.gslb.test" // whose agents are honest
)

const (
	pollBound  = 20 * time.Second // for what should come about within a second or two
	honestBeat = time.Second
	lookups    = 10 * time.Millisecond
	soundSize  = 256 << 20 // octets that no attack may make a node exceed
)

// patient is the number of failed checks after which the node removes its own server: the checks of 30 s. Checks may
// fail on a stalled machine. A test that needs successful checks waits for them.
const patient = 60

// stand is a node that serves a good name, and an attacker with the gossip key and the token of another service.
type stand struct {
	*harness.Cluster
	node   *harness.Node
	server *harness.Backend // of goodName
	watch  *harness.Watch   // of goodName
	cipher *agent.Cipher
	made   int
}

// newStand prepares a stand, with more services if wanted, and starts nothing. The stand ends with the test. If the
// test failed, the stand logs its history.
func newStand(t *testing.T, more ...string) *stand {
	t.Helper()
	var domains []harness.Domain
	for _, name := range append([]string{goodName, evilName, calmName}, more...) {
		domains = append(domains, harness.Domain{Name: name, RoutingAlgorithm: "round-robin", Regions: []string{"eu"},
			TTL: 5})
	}
	c, err := harness.NewCluster(harness.Options{Binaries: testbed.Binaries(t), Timing: harness.Fast(), Domains: domains})
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
	s := &stand{Cluster: c}
	if s.cipher, err = agent.NewCipher(c.GossipKey); err != nil {
		t.Fatal(err)
	}
	servers, err := c.AddBackends(map[string]netip.Addr{"server": netip.AddrFrom4([4]byte{127, 0, 3, 1})})
	if err != nil {
		t.Fatal(err)
	}
	s.server = servers["server"]
	s.node = s.addNode(t, "ow-1")
	return s
}

// addNode prepares a node that declares the server of goodName in its file.
func (s *stand) addNode(t *testing.T, name string) *harness.Node {
	t.Helper()
	check := s.Timing.Check()
	check.FailureThreshold = patient
	n, err := s.AddNode(name, "eu", map[string][]harness.Server{"eu": {{
		Service: goodName, Address: s.server.At.Addr(), Port: s.server.At.Port(), Weight: 100, HealthCheck: check,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	n.File.DNS.Zones = []string{"test.gslb.test"}
	return n
}

// start starts the node and its server, and queries the good name until the test ends.
func (s *stand) start(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.server.Start(), s.node.Start()); err != nil {
		t.Fatal(err)
	}
	s.serves(t)
	s.watch = harness.NewWatch([]*harness.Node{s.node}, []string{goodName}, lookups)
	s.watch.Patience = testbed.Hang
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.watch.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
}

// serves waits until the node is ready and its own server is healthy.
func (s *stand) serves(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testbed.Hang)
	defer cancel()
	if err := s.node.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	s.backend(t, s.server.At, func(v api.Backend) error {
		if v.ValidationHealthy == nil || !*v.ValidationHealthy {
			return fmt.Errorf("it is %s: %s", v.EffectiveStatus, v.Reason)
		}
		return nil
	})
}

// checked waits until the node has made the given number of successful checks of its own server. This leaves time for
// an expected or unexpected effect, and proves that the node makes its checks.
func (s *stand) checked(t *testing.T, times int) {
	t.Helper()
	var last time.Time
	for range times + 1 { // the first may be over
		view := s.backend(t, s.server.At, func(v api.Backend) error {
			switch {
			case v.ValidationError != nil:
				return fmt.Errorf("a check failed: %s", *v.ValidationError)
			case v.ValidationLastCheck == nil || !v.ValidationLastCheck.After(last):
				return fmt.Errorf("no check since %s", last)
			}
			return nil
		})
		last = *view.ValidationLastCheck
	}
}

// agent creates an agent with its own address and identity, and the tokens of some services.
func (s *stand) agent(t *testing.T, name string, services ...string) *agent.Agent {
	t.Helper()
	s.made++
	return s.agentAt(t, name, netip.AddrFrom4([4]byte{127, 81, byte(s.made >> 8), byte(s.made)}), services...)
}

// agentAt creates an agent that sends from an address.
func (s *stand) agentAt(t *testing.T, name string, source netip.Addr, services ...string) *agent.Agent {
	t.Helper()
	tokens := map[string]string{}
	for _, service := range services {
		tokens[service] = s.Tokens[service]
	}
	a, err := agent.New(agent.Options{
		Dir: t.TempDir(), Name: name, Cipher: s.cipher, Node: s.node.Gossip, Tokens: tokens,
		Source: source,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// pinned returns an agent that the node knows.
func (s *stand) pinned(t *testing.T, name string, services ...string) *agent.Agent {
	t.Helper()
	a := s.agent(t, name, services...)
	until(t, "agent "+name+" to be pinned", func(context.Context) error { return a.Register() })
	return a
}

// until polls a condition. If the condition does not occur in time, the test fails with the last error.
func until(t *testing.T, what string, cond func(context.Context) error) {
	t.Helper()
	testbed.Until(t, pollBound, what, cond)
}

// backend waits until the state of a backend on the node is as wanted, and returns it.
func (s *stand) backend(t *testing.T, at netip.AddrPort, want func(api.Backend) error) (view api.Backend) {
	t.Helper()
	until(t, "the node's view of "+at.String(), func(ctx context.Context) error {
		list, err := s.node.Client.Backends(ctx, api.BackendFilter{})
		if err != nil {
			return err
		}
		for _, view = range list.Backends {
			if view.Address == at.Addr().String() && view.Port == int(at.Port()) {
				return want(view)
			}
		}
		return fmt.Errorf("it is not among %d backends", len(list.Backends))
	})
	return view
}

// unknown checks that the node knows no backend at an address.
func (s *stand) unknown(t *testing.T, at netip.AddrPort) {
	t.Helper()
	list, err := s.node.Client.Backends(t.Context(), api.BackendFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list.Backends {
		if v.Address == at.Addr().String() && v.Port == int(at.Port()) {
			t.Errorf("the node took the backend %s of %s", at, v.AgentID)
		}
	}
}

// good checks that every lookup of the good name since the start was answered with its server, and that the node still
// answers.
func (s *stand) good(t *testing.T, since time.Time) {
	t.Helper()
	testbed.AnswersStill(t, s.watch, s.node, goodName)
	answers, bad := s.watch.Since(s.node, goodName, since), 0
	for _, a := range answers {
		if a.Asked().Before(since) {
			continue
		}
		testbed.InTime(t, "an answer", harness.AnswerBound, a.Asked(), a.At)
		if !a.Good() || !a.Has(s.server.At.Addr()) {
			if bad++; bad == 1 {
				t.Errorf("a lookup went wrong %s after the start: %+v", a.At.Sub(since).Round(time.Millisecond), a)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d lookups went wrong", bad, len(answers))
	}
}

// report returns a backend of a service that is reported healthy, with an http check of the path /.
func report(service string, at netip.AddrPort) wire.Backend {
	return wire.Backend{
		Service: service, Address: at.Addr(), Port: at.Port(), Weight: 100, Claim: wire.ClaimHealthy,
		Check: wire.Check{
			Type: "http", Path: "/", IntervalMillis: 500, TimeoutMillis: 500, FailureThreshold: 1, SuccessThreshold: 1,
		},
	}
}

// reports sends heartbeats until the node has accepted one, completely or partly, or refused one.
func (s *stand) reports(t *testing.T, a *agent.Agent, backends []wire.Backend) {
	t.Helper()
	until(t, "a heartbeat of "+a.Name+" to be answered", func(context.Context) error {
		err := a.Heartbeat(time.Minute, backends)
		if refused(err) {
			t.Logf("%s: %v", a.Name, err)
			return nil
		}
		return err
	})
}

// isRefused waits until the node has refused an agent's enrolment.
func isRefused(t *testing.T, a *agent.Agent) {
	t.Helper()
	until(t, a.Name+" to be refused", func(context.Context) error {
		err := a.Register()
		if err == nil {
			t.Errorf("%s was taken", a.Name)
		}
		if refused(err) {
			return nil
		}
		return err
	})
}

// refused reports whether an error is a refusal of a node, with any code.
func refused(err error) bool {
	var r *agent.Refusal
	return errors.As(err, &r)
}

// control runs gslbctl against the node and returns its output.
func (s *stand) control(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"--api", s.node.API.String()}, args...)
	cmd := exec.CommandContext(t.Context(), testbed.Binaries(t).Control, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gslbctl %v: %v\n%s", args, err, out)
	}
	return string(out)
}
