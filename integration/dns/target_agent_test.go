package dns_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// If an agent's backend is a host name, a node has one backend for each address that a real Knot returns for the name.
func TestTarget_AnAgentReportsTheAddressesOfAHostName(t *testing.T) {
	c := testbed.NewCluster(t, harness.Fast(), harness.Domain{Name: testbed.AppName, RoutingAlgorithm: "weighted",
		Regions: []string{"eu"}, TTL: 1})
	k := startKnotZone(t, c.Dir, "A 127.0.9.1", "A 127.0.9.2", "A 127.0.9.3")
	n := testbed.AddNode(t, c, "ow-1", "eu", map[string][]harness.Server{"eu": nil})
	a, err := c.AddAgent("agent-1", "eu", []*harness.Node{n}, []harness.AgentBackend{{Service: testbed.AppName,
		Target: "App." + targetZone, Port: 80, Weight: 90, HealthCheck: c.Timing.Check()}})
	if err != nil {
		t.Fatal(err)
	}
	a.File.Agent.Resolver = harness.Resolver{Servers: []string{k.at.String()}, MinTTL: time.Second}
	testbed.Start(t, n)
	testbed.Start(t, a)
	reports := func(what string, weight int, want ...string) {
		t.Helper()
		testbed.Until(t, targetBound, what, func(ctx context.Context) error {
			list, err := n.Client.Backends(ctx, api.BackendFilter{})
			if err != nil {
				return err
			}
			var got []string
			for _, b := range list.Backends {
				if b.Weight != weight {
					return fmt.Errorf("%s has weight %d", b.ID, b.Weight)
				}
				got = append(got, b.Address)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				return fmt.Errorf("it has %v", got)
			}
			return nil
		})
	}
	reports("the addresses", 30, "127.0.9.1", "127.0.9.2", "127.0.9.3")
	k.change(t, "A 127.0.9.3", "A 127.0.9.4")
	reports("others", 45, "127.0.9.3", "127.0.9.4")
	k.change(t)
	k.running.Stop()
	testbed.Until(t, targetBound, "word that it is not resolved", func(context.Context) error {
		return testbed.Said(a.Unit, "resolving the target of a backend failed")
	})
	reports("what was good last", 45, "127.0.9.3", "127.0.9.4")
}
