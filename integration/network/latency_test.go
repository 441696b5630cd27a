package network_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// The delays of two sites increase and decrease for a name with latency routing. Answers follow the routing manual: a
// backend leaves when it is a quarter slower on average, and returns within a tenth. A backend between both bounds
// keeps its clients.
func TestNetwork_LatencyFollowsTheWay(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		const interval = 400 * time.Millisecond
		// three measurements and the measurement in progress; the node compares latencies once a second
		const bound = 4*interval + 2*time.Second
		s := newNetworkSite(t, []string{"eu"})
		home := testbed.AddSite(t, n, "home", 0)
		a, b := testbed.AddSite(t, n, "a", 5*time.Millisecond), testbed.AddSite(t, n, "b", 15*time.Millisecond)
		node := s.NodeAt(t, home, testbed.AddHost(t, home), "ow", "eu")
		check := s.Timing.Check()
		check.Interval, check.Timeout = interval, interval
		check.FailureThreshold = 100 // their time is what is judged, and on a busy machine some take longer than the timeout
		for _, at := range []*network.Site{a, b} {
			backend := s.BackendAt(t, at, testbed.AddHost(t, at), "b-"+at.Name, "eu")
			node.File.Regions[0].Servers = append(node.File.Regions[0].Servers, harness.Server{
				Service: testbed.AppName, Address: backend.At.Addr(), Port: backend.At.Port(), Weight: 100, HealthCheck: check,
			})
		}
		node.File.Domains[0].RoutingAlgorithm = "latency"
		s.Agents = nil // the node's own checks are what is measured
		s.StartPrograms(t)
		s.Watch = s.WatchFrom(t, home, node)
		atA, atB := s.Backends[0].At.Addr(), s.Backends[1].At.Addr()
		delay := func(of *network.Site, each time.Duration) time.Time {
			s.Story.Event("each way to %s takes %s", of.Name, each)
			of.Delay(each)
			return time.Now()
		}
		// A check needs two round trips.
		s.Gone(t, node, atB, s.Began, bound) // 20 ms and 60
		s.Answered(t, node, atA, s.Began, bound)

		at := delay(a, 40*time.Millisecond) // 160 and 60
		s.Gone(t, node, atA, at, bound)
		s.Answered(t, node, atB, at, bound)

		at = delay(b, 45*time.Millisecond) // 160 and 180: a tenth brings A in, a quarter would take B out
		s.Answered(t, node, atA, at, bound)
		fast, slow := s.measured(t, node, time.Now().Add(6*interval))
		if slow > 1.2*fast {
			t.Logf("who shares is not judged: on this machine checks of a took %v ms and more, of b up to %v", fast, slow)
		} else {
			for name, addr := range map[string]netip.Addr{"a": atA, "b": atB} {
				if s.Watch.FirstWith(node, testbed.AppName, addr, time.Now().Add(-time.Second)).IsZero() {
					t.Errorf("b, which is an eighth slower and had all clients, shares with a: no answer of a second has %s", name)
				}
			}
		}

		at = delay(b, 60*time.Millisecond) // 160 and 240
		s.Gone(t, node, atB, at, bound)
		s.Answered(t, node, atA, at, bound)
		s.NoFailures(t, node, s.Began)
	})
}

// measured returns, until a time, the minimum check duration of the first backend and the maximum of the second, in
// milliseconds.
func (s *site) measured(t *testing.T, n *harness.Node, end time.Time) (least, most float64) {
	t.Helper()
	testbed.During(t, time.Until(end), testbed.Pace, func() {
		list, err := n.Client.Backends(t.Context(), api.BackendFilter{Service: testbed.AppName})
		if err != nil {
			t.Fatal(err)
		}
		of := func(b *harness.Backend) float64 {
			i := slices.IndexFunc(list.Backends, func(v api.Backend) bool { return v.Address == b.At.Addr().String() })
			if i < 0 || list.Backends[i].ValidationLatencyMS == nil {
				t.Fatalf("%s says nothing of %s: %+v", n.Name, b.Name, list)
			}
			return *list.Backends[i].ValidationLatencyMS
		}
		if first := of(s.Backends[0]); least == 0 || first < least {
			least = first
		}
		most = max(most, of(s.Backends[1]))
	})
	return least, most
}
