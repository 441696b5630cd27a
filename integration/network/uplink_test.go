package network_test

import (
	"testing"
	"time"

	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// The first of two uplinks of a site with agents fails and recovers, which changes the source addresses of IPv4 and
// IPv6 immediately. No node reports the agents as silent, and the nodes detect the failure of a backend in time.
//
// Fault 6.
func TestNetwork_AUplinkDiesAndTheAgentsHaveOtherAddresses(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newBranch(t, n, 3)
		if _, err := s.place.AddUplink("branch2"); err != nil {
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
		uplink := func(up bool) {
			s.Story.Event("the first uplink is up: %t", up)
			if err := s.place.Uplink(up); err != nil {
				t.Fatal(err)
			}
		}
		uplink(false)
		s.AllHeard(t, s.Timing.StaleThreshold, all...)
		killed := testbed.Kill(t, s.Backends[2])
		for _, node := range s.Nodes {
			s.Gone(t, node, s.Backends[2].At.Addr(), killed, s.Timing.Detection())
		}
		uplink(true)
		s.AllHeard(t, s.Timing.StaleThreshold+time.Second, all...)
		for _, node := range s.Nodes {
			s.NoFailures(t, node, s.Began)
		}
	})
}
