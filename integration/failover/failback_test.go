package failover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// failbackSite returns two replicating nodes with a main server in eu and a standby server in us, and failback: manual.
func failbackSite(t *testing.T) *testbed.Site {
	t.Helper()
	s := testbed.NewSite(t, 2, 2)
	s.Agents = nil
	for i, n := range s.Nodes {
		server := func(b *harness.Backend) []harness.Server {
			return []harness.Server{{Service: testbed.AppName, Address: b.At.Addr(), Port: b.At.Port(), Weight: 100,
				HealthCheck: s.Timing.Check()}}
		}
		n.File.Regions = []harness.Region{{Name: "eu", Servers: server(s.Backends[0])},
			{Name: "us", Servers: server(s.Backends[1])}}
		n.File.Domains = []harness.Domain{{Name: testbed.AppName, RoutingAlgorithm: "failover",
			Regions: []string{"eu", "us"}, TTL: 5, Failback: "manual"}}
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
			Peers:  []string{"http://" + s.Nodes[1-i].API.String()}}
	}
	s.StartPrograms(t)
	testbed.Alike(t, s.Nodes...)
	return s
}

// servedBy waits until all nodes answer with one backend only.
func servedBy(t *testing.T, s *testbed.Site, b *harness.Backend) {
	t.Helper()
	for _, n := range s.Nodes {
		testbed.Until(t, 20*time.Second, fmt.Sprintf("%s to answer with %s", n.Name, b.Name), func(context.Context) error {
			var got []string
			for _, rr := range testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA).Answer {
				if a, ok := rr.(*dns.A); ok {
					got = append(got, a.A.String())
				}
			}
			if !slices.Equal(got, []string{b.At.Addr().String()}) {
				return fmt.Errorf("it answers %v", got)
			}
			return nil
		})
	}
}

// awaits waits until the main region can serve on a node and awaits failback there.
func awaits(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Until(t, 20*time.Second, n.Name+" to list the pending failback", func(ctx context.Context) error {
		list, err := n.Client.Failbacks(ctx)
		if err == nil && (list.Total != 1 || list.Failbacks[0].Region != "eu" || list.Failbacks[0].CanServeSince == nil) {
			err = fmt.Errorf("it lists %+v", list.Failbacks)
		}
		return err
	})
}

// With failback: manual, both nodes keep the standby after the main region has recovered, even after a restart of both,
// until an operator requests the failback on one of them. An answer is always available.
func TestFailback_ManualKeepsTheStandbyOnBothNodes(t *testing.T) {
	s := failbackSite(t)
	main, standby := s.Backends[0], s.Backends[1]
	gslbctl := func(args ...string) testbed.Result {
		return testbed.Command(t, append([]string{testbed.Binaries(t).Control, "--api", s.Nodes[0].API.String(), "--api",
			s.Nodes[1].API.String()}, args...)...)
	}
	servedBy(t, s, main)
	testbed.Kill(t, main)
	servedBy(t, s, standby)

	testbed.Start(t, main)
	for _, n := range s.Nodes {
		awaits(t, n)
	}
	servedBy(t, s, standby)
	gslbctl("status").Want(t, 0, "attention", "region eu can serve since", "gslbctl failback "+testbed.AppName)
	gslbctl("domains", "show", testbed.AppName).Want(t, 0, "Failback: manual", "Region eu awaits failback")
	gslbctl("routing", "test", testbed.AppName, "--client", "192.0.2.1").Want(t, 0, "its region awaits failback")

	for _, n := range s.Nodes { // no node is left that has not restarted
		testbed.Stop(t, n)
		testbed.Start(t, n)
		s.Ready(t, n)
	}
	for _, n := range s.Nodes {
		awaits(t, n)
	}
	servedBy(t, s, standby)

	gslbctl("failback", testbed.AppName).Want(t, 0, "the clients of eu return")
	servedBy(t, s, main)
	gslbctl("undo").Want(t, 0, "failback")
	servedBy(t, s, standby)
	testbed.Kill(t, standby)
	servedBy(t, s, main)
	testbed.Start(t, standby)
	s.Status(t, s.Nodes[0], standby, 20*time.Second, testbed.StatusIs(api.EffectiveHealthy, true))
	servedBy(t, s, main)
	testbed.Until(t, 20*time.Second, "status to name the domain without a problem", func(context.Context) error {
		if r := gslbctl("diff"); r.Code != 0 {
			return errors.New(r.Output)
		}
		return nil
	})
}
