package network_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// threeSites is a site each for eu, us and ap, with a backend and its agent. The first two sites have a node, and the
// last is far away. Clients are in another site.
type threeSites struct {
	*site
	eu, us, ap, clients *network.Site
}

func newThreeSites(t *testing.T, n *network.Network) *threeSites {
	t.Helper()
	s := &threeSites{site: newNetworkSite(t, []string{"eu", "us", "ap"})}
	s.eu, s.us = testbed.AddSite(t, n, "eu", 0), testbed.AddSite(t, n, "us", 10*time.Millisecond)
	s.ap = testbed.AddSite(t, n, "ap", 60*time.Millisecond)
	s.clients = testbed.AddSite(t, n, "clients", 0)
	testbed.AddHost(t, s.clients)
	s.NodeAt(t, s.eu, testbed.AddHost(t, s.eu), "ow-eu", "eu", "us", "ap")
	s.NodeAt(t, s.us, testbed.AddHost(t, s.us), "ow-us", "us", "eu", "ap")
	s.BackendAt(t, s.eu, testbed.AddHost(t, s.eu), "b-eu", "eu")
	s.BackendAt(t, s.us, testbed.AddHost(t, s.us), "b-us", "us")
	s.BackendAt(t, s.ap, testbed.AddHost(t, s.ap), "b-ap", "ap")
	return s
}

// start starts all programs, and clients that query both nodes.
func (s *threeSites) start(t *testing.T) {
	t.Helper()
	s.StartPrograms(t)
	s.Watch = s.WatchFrom(t, s.clients, s.Nodes...)
}

// exchangeKeys makes the nodes exchange keys.
func (s *threeSites) exchangeKeys() {
	for i, n := range s.Nodes {
		v4, _ := [...]*network.Site{s.us, s.eu}[i].Networks()
		n.File.API.More["allowed_networks"] = append(n.File.API.More["allowed_networks"].([]string), v4.String())
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: time.Second,
			Secret: "a secret of the nodes, in more than 32 characters", Peers: []string{"http://" + s.Nodes[1-i].API.String()}}
	}
}

// synced waits until each node has reached its peer for keys in the last attempt, or no node has.
func (s *threeSites) synced(t *testing.T, want bool) {
	t.Helper()
	testbed.Until(t, testbed.KeyBound, fmt.Sprintf("keys to be exchanged: %t", want), func(ctx context.Context) error {
		for _, n := range s.Nodes {
			status, err := n.Client.DNSSECStatus(ctx)
			if err != nil {
				return err
			}
			if len(status.Sync.Peers) != 1 || status.Sync.Peers[0].OK != want {
				return fmt.Errorf("the status of %s is %+v", n.Name, status.Sync)
			}
		}
		return nil
	})
}

// A whole site, including its node, is disconnected from all others. The other site's node removes its backend in time,
// shows the status of the table, and fails no client. In the disconnected site, clients still receive answers. Both
// nodes report that they exchange no keys, and keep their keys. After the connection is restored, all functions recover
// automatically.
//
// Fault 6.
// Fault 8.
func TestNetwork_ASiteThatIsCutOff(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newThreeSites(t, n)
		s.exchangeKeys()
		s.start(t)
		alone, other := s.Nodes[0], s.Nodes[1]
		lost, near, far := s.Backends[0], s.Backends[1], s.Backends[2]
		s.synced(t, true)
		keys := signed.SameKeys(t, 1, s.Nodes...)
		inside := s.WatchFrom(t, s.eu, alone)

		cut := time.Now()
		rules(t, n, s.site, network.Cut(s.eu)...)
		s.Gone(t, other, lost.At.Addr(), cut, s.Timing.OwnDetection())
		s.Status(t, other, lost, s.Timing.StaleThreshold+testbed.StaleResolution,
			testbed.StatusIs(api.EffectiveStale, false))
		for _, b := range []*harness.Backend{near, far} {
			s.Status(t, other, b, time.Second, testbed.WantSound)
		}
		// No node receives reports about the backends in other sites: each site has its own backend.
		for _, b := range []*harness.Backend{near, far} {
			s.Status(t, alone, b, s.Timing.StaleThreshold+testbed.StaleResolution,
				testbed.StatusIs(api.EffectiveStale, false))
		}
		s.Status(t, alone, lost, time.Second, testbed.WantSound)
		s.synced(t, false)

		rules(t, n, s.site)
		healed := time.Now()
		for _, node := range s.Nodes {
			for _, b := range s.Backends {
				s.Answered(t, node, b.At.Addr(), healed, s.Timing.Recovery()+5*time.Second)
				s.Status(t, node, b, testbed.HeardAgainBound, func(v api.Backend) error {
					if err := testbed.WantSound(v); err != nil || (v.AgentHealthy != nil && *v.AgentHealthy) {
						return err
					}
					return fmt.Errorf("its agent is not heard again")
				})
			}
		}
		t.Logf("all as before %s after the way was back", time.Since(healed).Round(time.Millisecond))
		s.synced(t, true)
		if now := signed.SameKeys(t, 1, s.Nodes...); !slices.Equal(now, keys) {
			t.Errorf("the keys are %v, before %v", now, keys)
		}
		s.NoFailures(t, other, s.Began)
		for _, a := range inside.Since(alone, testbed.AppName, cut) {
			if !a.Good() {
				t.Errorf("in the site that was alone a lookup failed %s after the cut: %+v", a.At.Sub(cut).Round(time.Millisecond),
					a)
				break
			}
		}
	})
}

// With 30 or 60 percent random packet loss in both directions, or complete loss in one direction, no agent is reported
// as silent. With 60 percent loss also of streams, agents report too rarely; the nodes' own checks preserve every
// answer.
//
// Fault 6.
// Fault 7: 30 % or 60 % of the gossip packets are lost. No agent is stale. If TCP segments are lost too, the
// answers do not change.
func TestNetwork_GossipThatIsLost(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newThreeSites(t, n)
		s.start(t)
		rules(t, n, s.site, slices.Concat(
			testbed.LostGossip(30, s.eu, s.us, "udp"),
			testbed.LostGossip(60, s.ap, s.us, "udp"),
			[]string{network.Between(s.us, s.eu, "udp dport 7946 drop"), network.Between(s.eu, s.ap, "udp sport 7946 drop")},
		)...)
		ow, b := s.Nodes, s.Backends
		s.AllHeard(t, 2*s.Timing.StaleThreshold, // half of it is what was true before anyhow
			&testbed.Heard{Node: ow[1], Backend: b[0]}, &testbed.Heard{Node: ow[1], Backend: b[2]},
			&testbed.Heard{Node: ow[0], Backend: b[1]}, &testbed.Heard{Node: ow[0], Backend: b[2]})

		rules(t, n, s.site, testbed.LostGossip(60, nil, nil, "{ tcp, udp }")...)
		testbed.Pause(t.Context(), 2*s.Timing.StaleThreshold) // in which the watch asks all the time
		for _, node := range s.Nodes {
			for _, b := range s.Backends {
				s.Answered(t, node, b.At.Addr(), time.Now(), 5*time.Second)
			}
			s.NoFailures(t, node, s.Began)
		}
	})
}
