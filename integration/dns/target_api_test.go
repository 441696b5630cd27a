package dns_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// override sets an override of healthy for an address, so that it serves although no check reaches it.
func override(t *testing.T, n *harness.Node, address string) error {
	_, err := n.Client.SetOverride(t.Context(), testbed.AppName, address, api.OverrideRequest{Healthy: new(true),
		Reason: "test"})
	return err
}

// named changes the domain so that it answers with the host names of its servers.
func named(t *testing.T, n *harness.Node) error {
	_, err := n.Client.ChangeDomain(t.Context(), testbed.AppName, api.DomainChange{"answer": "cname"})
	return err
}

// Both nodes resolve a server with a host name that one node's API has created, even after a restart. They follow the
// addresses that a real Knot returns, and both delete the server.
func TestTarget_OfTheAPIReachesTheOtherNode(t *testing.T) {
	c := testbed.NewCluster(t, harness.Fast(), harness.Domain{Name: testbed.AppName, RoutingAlgorithm: "weighted",
		Regions: []string{"eu"}, TTL: 1})
	k := startKnotZone(t, c.Dir, "A 192.0.2.1", "A 192.0.2.2", "A 10.0.0.1")
	var nodes []*harness.Node
	for _, name := range []string{"ow-1", "ow-2"} {
		n := testbed.AddNode(t, c, name, "eu", map[string][]harness.Server{"eu": nil})
		n.File.Overwatch.AgentTokens = nil
		n.File.DNS.Zones = []string{"test.gslb.test"} // above the name, so that it may be an alias
		n.File.DNS.Resolver = harness.Resolver{Servers: []string{k.at.String()}, MinTTL: time.Second}
		nodes = append(nodes, n)
	}
	for i, n := range nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: testbed.Patience,
			Secret: "a secret of more than thirty-two characters", Peers: []string{"http://" + nodes[1-i].API.String()}}
		testbed.Start(t, n)
	}
	for _, n := range nodes { // a node alone waits for the keys of the other
		if err := n.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	backends := func(what string, weight int, want ...string) {
		t.Helper()
		for _, n := range nodes {
			testbed.Until(t, targetBound, what, func(ctx context.Context) error {
				list, err := n.Client.Servers(ctx)
				if err != nil {
					return err
				}
				got := []string{}
				for _, s := range list.Servers {
					if s.Target != "app.backends.test" || s.Weight != weight || s.Source != api.SourceAPI {
						return fmt.Errorf("%s has %+v", n.Name, s)
					}
					got = append(got, s.Address)
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					return fmt.Errorf("%s has %v", n.Name, got)
				}
				return nil
			})
		}
	}
	made, err := nodes[0].Client.CreateServer(t.Context(), api.ServerChange{"service": testbed.AppName,
		"target": "App." + targetZone, "port": 80, "region": "eu", "allowed_cidrs": []string{"192.0.2.0/24"}})
	if err != nil {
		t.Fatal(err)
	}
	backends("the addresses where they may be", 100, "192.0.2.1", "192.0.2.2")
	if _, err := nodes[1].Client.PatchServer(t.Context(), made.ID, api.ServerChange{"weight": 7,
		"allowed_cidrs": []string{"10.0.0.0/8"}}); err != nil {
		t.Fatal(err)
	}
	backends("those of other networks", 7, "10.0.0.1")
	for _, n := range nodes {
		list, err := n.Client.Servers(t.Context())
		if err != nil || len(list.Targets) != 1 || !strings.Contains(list.Targets[0].Problem, "192.0.2.1, 192.0.2.2") {
			t.Errorf("what is wrong with it on %s: %+v, %v", n.Name, list.Targets, err)
		}
	}
	for _, err := range []error{override(t, nodes[1], "10.0.0.1"), named(t, nodes[0])} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range nodes {
		testbed.Until(t, targetBound, "the host name for an answer", func(context.Context) error {
			r := testbed.Exchange(t, "udp", n, testbed.AppName, dns.TypeA)
			if len(r.Answer) == 0 || r.Answer[0].Header().Rrtype != dns.TypeCNAME ||
				r.Answer[0].(*dns.CNAME).Target != "app.backends.test." {
				return fmt.Errorf("%v", r)
			}
			return nil
		})
	}
	testbed.Stop(t, nodes[0])
	testbed.Start(t, nodes[0])
	if err := nodes[0].Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	backends("the same after a restart", 7, "10.0.0.1")
	k.change(t, "A 10.0.0.2", "A 10.0.0.3")
	backends("others", 7, "10.0.0.2", "10.0.0.3")
	if err := nodes[0].Client.DeleteServer(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	backends("none", 7)
}
