package restart_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// endBound is the maximum time from the end of an agent's drain to the end of the agent.
const endBound = 5 * time.Second

// An agent that stops first drains its backend: the share of the backend decreases while the backend continues to
// answer.
//
// Fault 37.
func TestLeave_SIGTERMDrainsBeforeTheGoodbye(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	leaving, b := s.Agents[0], s.Backends[0]
	leaving.File.Agent.DrainTime = 4 * time.Second
	s.StartAll(t)
	n := s.Nodes[0]
	asked := time.Now()
	testbed.Signal(t, leaving, syscall.SIGTERM)
	s.Status(t, n, b, 2*time.Second, func(v api.Backend) error {
		if !v.Draining || v.Share > 0.9 || v.Share < 0.1 || !v.MayServe {
			return fmt.Errorf("share %v, draining %v, may serve %v", v.Share, v.Draining, v.MayServe)
		}
		return nil
	})
	s.Gone(t, n, b.At.Addr(), asked, leaving.File.Agent.DrainTime+2*time.Second)
	testbed.Ends(t, leaving, endBound)
	if took := time.Since(asked); took < leaving.File.Agent.DrainTime {
		t.Errorf("the agent ended after %s, before it was drained", took)
	}
	s.NoFailures(t, n, s.Began)
}

// The hook of an application's service drains the backend of the application before the application stops, and ends the
// drain after its start. The drain survives a restart of the agent.
//
// Fault 37.
func TestLeave_TheHookOfAnApplicationDrainsItsBackend(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	a, b := s.Agents[0], s.Backends[0]
	a.File.Agent.DrainTime = 2 * time.Second
	s.StartAll(t)
	n := s.Nodes[0]
	notify := func(args ...string) {
		t.Helper()
		testbed.Command(t, append([]string{testbed.Binaries(t).Agent, "notify"}, args...)...).Want(t, testbed.ExitOK)
	}
	drained := func(v api.Backend) error {
		if !v.Draining || v.MayServe {
			return fmt.Errorf("draining %t, may serve %t", v.Draining, v.MayServe)
		}
		return nil
	}
	asked := time.Now()
	notify("draining", "--wait", "--config", a.Path, "--backend", testbed.AppName+":"+b.At.String())
	if took := time.Since(asked); took < a.File.Agent.DrainTime {
		t.Errorf("the hook returned after %s, before the end of the drain", took)
	}
	s.Gone(t, n, b.At.Addr(), asked, a.File.Agent.DrainTime+2*time.Second)
	testbed.Signal(t, a, syscall.SIGUSR2)
	testbed.Ends(t, a, endBound)
	restarted := time.Now()
	testbed.Start(t, a)
	s.Status(t, n, b, testbed.StartBound, func(v api.Backend) error {
		if v.AgentLastSeen == nil || v.AgentLastSeen.Before(restarted) {
			return errors.New("the agent has not reported")
		}
		return drained(v)
	})
	ready := time.Now()
	notify("ready", "--config", a.Path)
	s.Answered(t, n, b.At.Addr(), ready, testbed.StartBound)
	s.NoFailures(t, n, s.Began)
}

// Fault 37.
func TestLeave_SecondSIGTERMEndsTheDrain(t *testing.T) {
	s := testbed.NewSite(t, 1, 2)
	leaving, b := s.Agents[0], s.Backends[0]
	leaving.File.Agent.DrainTime = time.Hour
	s.StartAll(t)
	n := s.Nodes[0]
	testbed.Signal(t, leaving, syscall.SIGTERM)
	s.Status(t, n, b, 2*time.Second, func(v api.Backend) error {
		if !v.Draining {
			return errors.New("not draining")
		}
		return nil
	})
	again := time.Now()
	testbed.Signal(t, leaving, syscall.SIGTERM)
	testbed.Ends(t, leaving, endBound)
	s.Gone(t, n, b.At.Addr(), again, 2*time.Second) // it said goodbye nevertheless
	s.NoFailures(t, n, s.Began)
	stoppedOnPurpose(t, n, leaving.Name)
}

// stoppedOnPurpose checks that a node does not miss an agent that said goodbye.
func stoppedOnPurpose(t *testing.T, n *harness.Node, agent string) {
	t.Helper()
	list, err := n.Client.AgentNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list.Nodes, func(a api.AgentNode) bool { return a.ID == agent })
	if at < 0 || list.Nodes[at].Status != api.AgentOffline || list.Nodes[at].LeftAt == nil {
		t.Errorf("%s is not shown as offline: %+v", agent, list.Nodes)
	}
	for _, a := range list.Nodes {
		if at, err := netip.ParseAddr(a.Address); err != nil || !at.IsLoopback() || a.Port == 0 {
			t.Errorf("%s is heard from %q, port %d", a.ID, a.Address, a.Port)
		}
	}
	// The other agent may be late on a busy machine. A missing agent is reported until it returns.
	testbed.Until(t, testbed.ToldBound, "one active agent and none that is missed", func(ctx context.Context) error {
		stats, err := n.Client.Stats(ctx)
		active, stale := testbed.Metric(t, n, "gslb_overwatch_agents_active"),
			testbed.Metric(t, n, "gslb_overwatch_stale_agents")
		if err == nil && (stats.ActiveAgents != 1 || active != 1 || stale != 0) {
			err = fmt.Errorf("%d active agents, by the metrics %v, and %v stale", stats.ActiveAgents, active, stale)
		}
		return err
	})
}

// An agent measures the round trip before its second heartbeat.
func TestGossipNodes_HaveAddressesAndRoundTrips(t *testing.T) {
	s := testbed.StartSite(t, 1, 1)
	testbed.Until(t, 30*time.Second, "the round trip to the agent", func(ctx context.Context) error {
		list, err := s.Nodes[0].Client.GossipNodes(ctx)
		for _, g := range list.Nodes {
			if g.Address == "" || g.Port == 0 || g.State == api.GossipMember && g.RTTMS < 1 {
				err = errors.Join(err, fmt.Errorf("%+v", g))
			}
		}
		return err
	})
}

// Every machine uses more than 0.01 % of its memory, so this agent warns from its start.
func TestWarn_LowersTheShareOfABackendThatIsStillHealthy(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 2)
	warning := s.Agents[0]
	warning.File.Agent.Predictive = map[string]any{
		"enabled": true, "check_interval": "1s", "memory": map[string]any{"threshold": 0.01, "bleed_duration": "2s"},
		// This threshold excludes warnings because of other load of the machine.
		"cpu": map[string]any{"threshold": 100}, "error_rate": map[string]any{"threshold": 1000},
	}
	s.StartAll(t)
	n := s.Nodes[0]
	s.Status(t, n, s.Backends[0], testbed.StartBound, func(v api.Backend) error {
		if v.Share > 0.11 || v.Reason != "reduced share: early warning of memory" {
			return fmt.Errorf("%+v", v)
		}
		return testbed.WantStatus(v, api.EffectiveHealthy, true)
	})
	s.Status(t, n, s.Backends[1], testbed.StartBound, func(v api.Backend) error {
		if v.Share != 1 {
			return fmt.Errorf("the other backend has the share %v", v.Share)
		}
		return testbed.WantSound(v)
	})
}

// After SIGHUP, an agent proves a backend of a service that is new in its file, and nodes serve the backend. A backend
// that was removed from the file leaves the answers.
func TestAgentReload_BackendsComeAndGoWithTheFile(t *testing.T) {
	s := testbed.StartSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	f := &agent.File.Agent
	f.Backends[0].Service = testbed.OtherName
	f.Identity.ServiceTokens[testbed.OtherName] = s.Tokens[testbed.OtherName]
	text, err := yaml.Marshal(agent.File)
	if err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, agent.Path, 0o600, string(text))
	asked := time.Now()
	testbed.Signal(t, agent, syscall.SIGHUP)
	s.Gone(t, n, b.At.Addr(), asked, 3*time.Second)
	testbed.Until(t, 3*time.Second, "the backend under its other name", func(context.Context) error {
		if r := testbed.Exchange(t, "udp", n, testbed.OtherName, dns.TypeA); len(r.Answer) != 1 {
			return fmt.Errorf("%s with %d records", dns.RcodeToString[r.Rcode], len(r.Answer))
		}
		return nil
	})
	s.NoFailures(t, n, s.Began)
}
