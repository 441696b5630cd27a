package integration_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// hostile starts a site without agents, whose servers the file declares, and an agent that holds the service's token.
func hostile(t *testing.T) (*site, *fleetAgent) {
	t.Helper()
	s := newSite(t, 1, 2)
	n := s.Nodes[0]
	s.Agents = nil
	for _, b := range s.Backends {
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers, harness.Server{
			Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100, HealthCheck: s.Timing.Check(),
		})
	}
	s.StartAll(t)
	for _, b := range s.Backends {
		s.Status(t, n, b, s.Timing.Recovery(), testbed.WantSound)
	}
	a, err := newFleetAgent(t.TempDir(), 1, newCipher(t, s.GossipKey), n.Gossip, testbed.AppName, s.Tokens[testbed.AppName], nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	a.registers(t)
	return s, a
}

// An agent of the service says unhealthy of servers that the file declares and no agent owns: the node's own checks succeed, so
// they stay in the answers, and the claim is shown.
func TestPower_AnAgentCannotTakeOutServersOfTheFile(t *testing.T) {
	t.Parallel()
	s, a := hostile(t)
	n, begin := s.Nodes[0], time.Now()
	a.backends = nil
	for _, b := range s.Backends {
		a.backends = append(a.backends, wire.Backend{
			Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 1, Claim: wire.ClaimUnhealthy, Draining: true, DrainMillis: 1,
			Check: wire.Check{Type: "tcp"},
		})
	}
	a.keeps(t)
	for _, b := range s.Backends {
		s.Status(t, n, b, s.Timing.Detection(), func(v api.Backend) error {
			if v.AgentHealthy == nil || *v.AgentHealthy || !v.MayServe || v.Draining || v.AgentID != a.Name {
				return fmt.Errorf("%+v: want it serving, with the claim of %s shown", v, a.Name)
			}
			return nil
		})
		s.Answered(t, n, b.At.Addr(), begin, s.Timing.Detection())
	}
	s.NoFailures(t, n, s.Began)
}

// Addresses that an agent may not have a node connect to are refused one by one, with a code, and its other backend is taken.
func TestPower_AnAgentsBackendsAreNotTheNodesOwnListenersNorMetadata(t *testing.T) {
	t.Parallel()
	s, a := hostile(t)
	n := s.Nodes[0]
	good := a.backends[0]
	refused := []netip.AddrPort{
		n.API, n.Prom, n.Gossip, netip.AddrPortFrom(netip.MustParseAddr("127.9.9.9"), n.API.Port()),
		netip.MustParseAddrPort("169.254.169.254:80"), netip.MustParseAddrPort("[fd00:ec2::254]:80"),
		netip.MustParseAddrPort("168.63.129.16:80"), netip.MustParseAddrPort("100.100.100.200:80"),
	}
	a.backends = []wire.Backend{good}
	for _, at := range refused {
		bad := good
		bad.Address, bad.Port = at.Addr(), at.Port()
		a.backends = append(a.backends, bad)
	}
	var err error
	testbed.Until(t, 2*agent.AckTime, "an answer to the heartbeat", func(context.Context) error {
		if err = a.heartbeat(); agent.Refused(err, wire.CodePolicy) {
			return nil
		}
		return fmt.Errorf("the heartbeat got %w", err)
	})
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, b := range list.Backends {
		found = found || b.Address == good.Address.String()
		for _, at := range refused {
			if b.Address == at.Addr().String() && b.Port == int(at.Port()) {
				t.Errorf("the node has taken %s", at)
			}
		}
	}
	if !found {
		t.Error("the agent's other backend was not taken")
	}
	testbed.Counts(t, n, "the refusals", `gslb_gossip_claims_refused_total{code="policy"}`)
}
