package network_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// branch is a set of agents in a separate site, for backends in other sites and two nodes: the first node is reached
// over IPv4, the other over IPv6.
type branch struct {
	*site
	place, apps *network.Site
	at          []*network.Site // of the nodes
}

func newBranch(t *testing.T, n *network.Network, backends int, others ...string) *branch {
	t.Helper()
	s := &branch{site: newNetworkSite(t, []string{"eu", "us"}, others...)}
	s.place, s.apps = testbed.AddSite(t, n, "branch", 5*time.Millisecond), testbed.AddSite(t, n, "apps", 0)
	testbed.AddHost(t, s.place)
	var reached []string
	for _, region := range []string{"eu", "us"} {
		at := testbed.AddSite(t, n, region, 0)
		s.at = append(s.at, at)
		h := testbed.AddHost(t, at)
		node := s.NodeAt(t, at, h, "ow-"+region, "eu", "us")
		node.File.Overwatch.Gossip.BindAddress = "[::]:7946"
		to := h.IPv4
		if region == "us" {
			to = h.IPv6
		}
		reached = append(reached, netip.AddrPortFrom(to, testbed.GossipPort).String())
	}
	for i := range backends {
		s.BackendAt(t, s.apps, testbed.AddHost(t, s.apps), fmt.Sprintf("b%d", i+1), "eu")
	}
	for _, a := range s.Agents {
		a.Inside = s.place.Inside
		a.File.Agent.Gossip.OverwatchNodes = reached
	}
	return s
}

// Both nodes receive the reports of agents behind a NAT with a short lifetime and no port forwarding, over IPv4 and
// IPv6. They detect a failure in time, and the agents receive the answers of the nodes.
func TestNetwork_AgentsBehindANAT(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newBranch(t, n, 3)
		if err := n.Masquerade(s.place); err != nil {
			t.Fatal(err)
		}
		s.StartPrograms(t)
		s.Watch = s.WatchFrom(t, s.apps, s.Nodes...)
		var all []*testbed.Heard
		for _, node := range s.Nodes {
			for _, b := range s.Backends[:2] {
				all = append(all, &testbed.Heard{Node: node, Backend: b})
			}
		}
		killed := testbed.Kill(t, s.Backends[2])
		for _, node := range s.Nodes {
			s.Gone(t, node, s.Backends[2].At.Addr(), killed, s.Timing.Detection())
		}
		s.AllHeard(t, 2*s.Timing.StaleThreshold, all...)
		if err := s.Nodes[0].Client.RevokeCertificate(t.Context(), s.Agents[1].Name); err != nil {
			t.Fatal(err)
		}
		testbed.Until(t, testbed.RefusalBound, "the agent to hear that it is revoked",
			func(context.Context) error { return testbed.Said(s.Agents[1].Unit, "revoked") })
		s.NoFailures(t, s.Nodes[0], s.Began)
		s.NoFailures(t, s.Nodes[1], s.Began)
	})
}

// On a path for 1280 octets without fragmentation, an agent with large messages, which also receives large messages,
// stays connected.
func TestNetwork_AgentsOnANarrowWay(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		names := longNames(6) // what names them all just fits the packets of a wider way
		s := newBranch(t, n, 1, names...)
		if err := s.place.MTU(1280); err != nil {
			t.Fatal(err)
		}
		rules(t, n, s.site, "ip frag-off & 0x3fff != 0 drop", "exthdr frag exists drop")
		s.speakFor(s.Agents[0], names)
		s.StartPrograms(t)
		s.answeredAlways(t, s.Agents[0], s.Backends[0])
	})
}

// longNames returns count names of services with nearly the maximum length.
func longNames(count int) (names []string) {
	for i := range count {
		names = append(names, fmt.Sprintf("s%d.%s.%s.%s.%s", i, strings.Repeat("a", 63), strings.Repeat("b", 63),
			strings.Repeat("c", 50), testbed.ZoneName))
	}
	return names
}

// speakFor makes an agent's backend also serve these names.
func (s *branch) speakFor(agent *harness.Agent, names []string) {
	for _, name := range names {
		own := agent.File.Agent.Backends[0]
		own.Service = name
		agent.File.Agent.Backends = append(agent.File.Agent.Backends, own)
		agent.File.Agent.Identity.ServiceTokens[name] = s.Tokens[name]
	}
}

// answeredAlways checks for a while that both nodes receive the reports of an agent and answer it.
func (s *branch) answeredAlways(t *testing.T, agent *harness.Agent, b *harness.Backend) {
	t.Helper()
	inside := browser(s.place, netip.Addr{})
	of := func(name string, node int) float64 {
		return testbed.MetricBy(t, inside, agent.Prom,
			fmt.Sprintf("%s{node=%q}", name, agent.File.Agent.Gossip.OverwatchNodes[node]))
	}
	for i, node := range s.Nodes {
		testbed.Until(t, 5*time.Second, "the agent to be answered by "+node.Name, func(context.Context) error {
			if of("gslb_agent_overwatch_connected", i) != 1 {
				return errors.New("it is not")
			}
			return nil
		})
	}
	s.AllHeard(t, 2*s.Timing.StaleThreshold, &testbed.Heard{Node: s.Nodes[0], Backend: b},
		&testbed.Heard{Node: s.Nodes[1], Backend: b})
	for i, node := range s.Nodes {
		// a stalled machine answers late
		if failed, sent := of("gslb_agent_heartbeat_failures_total", i),
			of("gslb_agent_heartbeats_sent_total", i); 4*failed > sent {
			t.Errorf("%v of %v heartbeats were not answered by %s", failed, sent, node.Name)
		}
	}
}
