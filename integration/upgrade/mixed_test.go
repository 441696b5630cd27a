package upgrade_test

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

const (
	// answeredDomain has two servers that serve by overrides, at answeredFirst and answeredSecond.
	answeredDomain = "answered.test.gslb.test"
	answeredFirst  = "192.0.2.1"
	answeredSecond = "192.0.2.2"
	// newerDomain has settings that version 0.9.0 does not know.
	newerDomain = "newer.test.gslb.test"
	// newerServer is the id of a server of newerDomain.
	newerServer = newerDomain + ":192.0.2.3:80"
)

// mixed is a node of version 0.9.0 and a node of this version, which replicate.
type mixed struct {
	*site
	old, now *harness.Node
	kinds    []mixedKind
}

// A node of version 0.9.0 and a node of this version replicate. Each kind of object is created, changed and deleted
// through either node, and arrives at the other with the same DNS answers. After the upgrade of the older node both
// have all objects, including the settings that version 0.9.0 does not know.
func TestUpgrade_NodesOfBothVersionsReplicate(t *testing.T) {
	t.Parallel()
	before := releasedPrograms(t)
	m := &mixed{site: newSite(t, 2, 1)}
	m.old, m.now = m.Nodes[0], m.Nodes[1]
	m.old.Use(before.Overwatch)
	for i, n := range m.Nodes {
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
			Peers: []string{"http://" + m.Nodes[1-i].API.String()}, PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
		}
	}
	m.kinds = mixedKinds(m.Agents[0].Name, testbed.OtherName)
	m.StartPrograms(t)
	m.prepare(t)

	// The objects of number 0 are created and deleted at the older node. The objects of numbers 1 and 2 stay.
	m.createAndChange(t, 0, m.old, m.now)
	m.step(t, 0, m.old, "delete", gone, func(k *mixedKind) func(int) call { return k.remove })
	testbed.Stop(t, m.Agents[0].Unit) // an agent whose pin was deleted enrolls again at its start
	testbed.Start(t, m.Agents[0])
	m.createAndChange(t, 1, m.now, m.old)
	m.createAndChange(t, 2, m.old, m.now)
	m.answersChange(t)
	m.checkNewerDomain(t, m.old, 1)
	m.noneRefused(t)
	testbed.Alike(t, m.Nodes...)
	count := m.objects(t, m.old)

	replace(t, m.old.Unit, m.old, testbed.Binaries(t).Overwatch)
	m.Ready(t, m.old)
	testbed.Alike(t, m.Nodes...)
	if after := m.objects(t, m.old); after != count {
		t.Errorf("%s had %d objects before the upgrade, and has %d after it", m.old.Name, count, after)
	}
	m.want(t, 1, changed)
	m.want(t, 2, changed)
	m.checkNewerDomain(t, m.old, 2)
	m.answers(t, answeredDomain, 5, answeredFirst)
	m.noneRefused(t)

	m.step(t, 1, m.old, "delete", gone, func(k *mixedKind) func(int) call { return k.remove })
	m.step(t, 2, m.old, "delete", gone, func(k *mixedKind) func(int) call { return k.remove })
	testbed.Alike(t, m.Nodes...)
	m.answers(t, answeredDomain, 5, answeredFirst)
}

// do makes a change through a node.
func (m *mixed) do(t *testing.T, n *harness.Node, what string, change call) {
	t.Helper()
	if err := change(t.Context(), n.Client); err != nil {
		t.Errorf("%s on %s: %v", what, n.Name, err)
	}
}

// prepare creates the domains and servers that the objects of the test need, and waits until both nodes have them.
func (m *mixed) prepare(t *testing.T) {
	t.Helper()
	m.do(t, m.old, "prepare", func(ctx context.Context, c *api.Client) error {
		_, err := c.CreateDomain(ctx, api.DomainChange{"name": mixedDomain})
		return err
	})
	for number := range 3 {
		m.do(t, m.old, "prepare", createServer("address", address(number)))
	}
	m.define(t, m.old, answeredDomain, answeredFirst, api.DomainChange{"ttl": 5})
	m.do(t, m.old, "prepare", func(ctx context.Context, c *api.Client) error {
		_, err := c.CreateServer(ctx, api.ServerChange{"service": answeredDomain, "address": answeredSecond, "port": 80,
			"region": "eu"})
		return err
	})
	m.define(t, m.now, newerDomain, "192.0.2.3", api.DomainChange{"max_answers": 2, "on_all_down": "all",
		"failover_threshold": 3, "latency_config": map[string]any{"tolerance_ms": 9},
		"brake": map[string]any{"share": "40%"}})
	m.do(t, m.now, "prepare", func(ctx context.Context, c *api.Client) error {
		_, err := c.CreateServer(ctx, api.ServerChange{"service": newerDomain, "address": "192.0.2.4", "port": 80,
			"region": "eu"})
		if err == nil {
			_, err = c.SetOverride(ctx, newerDomain, "192.0.2.4", api.OverrideRequest{Healthy: pointer(true), Reason: "test"})
		}
		if err == nil {
			_, err = c.ChangeServerHealthCheck(ctx, newerServer, api.HealthCheckChange{"type": "http", "path": "/newer"})
		}
		return err
	})
	testbed.Alike(t, m.Nodes...)
}

// createAndChange creates one object of each kind, with the given number in its name, on creator and changes the
// objects on changer.
func (m *mixed) createAndChange(t *testing.T, number int, creator, changer *harness.Node) {
	t.Helper()
	for _, n := range m.Nodes {
		testbed.Until(t, testbed.HeardAgainBound, n.Name+" to have pinned the agent", func(ctx context.Context) error {
			_, err := n.Client.Agent(ctx, m.Agents[0].Name)
			return err
		})
	}
	m.step(t, number, creator, "create", created, func(k *mixedKind) func(int) call { return k.create })
	m.step(t, number, changer, "change", changed, func(k *mixedKind) func(int) call { return k.change })
}

// step makes one change of the objects with a number, and waits until both nodes return the value.
func (m *mixed) step(t *testing.T, number int, n *harness.Node, verb, value string,
	change func(*mixedKind) func(int) call) {
	t.Helper()
	for i := range m.kinds {
		k := &m.kinds[i]
		if make := change(k); make != nil && m.has(k, number) {
			m.do(t, n, fmt.Sprintf("%s %s %d", verb, k.name, number), make(number))
		}
	}
	m.want(t, number, value)
}

// has reports whether a kind has an object with a number. A kind with a single object has the numbers 0 and 1.
func (m *mixed) has(k *mixedKind, number int) bool { return !k.single || number < 2 }

// want waits until the objects with a number have the value on both nodes.
func (m *mixed) want(t *testing.T, number int, value string) {
	t.Helper()
	for i := range m.kinds {
		k := &m.kinds[i]
		if !m.has(k, number) {
			continue
		}
		want := value
		switch {
		case value == changed && k.change == nil:
			want = created
		case value != gone && strings.HasPrefix(k.name, "health check"):
			want = "http /" + value
		}
		for _, n := range m.Nodes {
			testbed.Until(t, testbed.ReplicationBound, fmt.Sprintf("%s %d on %s to be %s", k.name, number, n.Name, want),
				func(ctx context.Context) error {
					got, err := k.value(ctx, n.Client, number)
					if err == nil && got != want {
						err = fmt.Errorf("it is %q", got)
					}
					return err
				})
		}
	}
}

// answersChange changes the answers of answeredDomain through both nodes in turn.
func (m *mixed) answersChange(t *testing.T) {
	t.Helper()
	override := func(address string, healthy bool) call {
		return func(ctx context.Context, c *api.Client) error {
			_, err := c.SetOverride(ctx, answeredDomain, address, api.OverrideRequest{Healthy: &healthy, Reason: "test"})
			return err
		}
	}
	m.answers(t, answeredDomain, 5, answeredFirst)
	m.do(t, m.now, "override", override(answeredSecond, true))
	m.answers(t, answeredDomain, 5, answeredFirst, answeredSecond)
	m.do(t, m.old, "override", override(answeredFirst, false))
	m.answers(t, answeredDomain, 5, answeredSecond)
	m.do(t, m.now, "override", override(answeredFirst, true))
	m.do(t, m.old, "change the TTL", overlayTTL(answeredDomain, 7))
	m.answers(t, answeredDomain, 7, answeredFirst, answeredSecond)
	m.do(t, m.now, "change the TTL", overlayTTL(answeredDomain, 5))
	m.do(t, m.now, "drain", func(ctx context.Context, c *api.Client) error {
		_, err := c.DrainServer(ctx, answeredDomain+":"+answeredSecond+":80", api.DrainRequest{Duration: "1s"})
		return err
	})
	m.answers(t, answeredDomain, 5, answeredFirst)
}

// answers waits until each node answers a name with these addresses, in one answer or in several, and with this TTL.
func (m *mixed) answers(t *testing.T, name string, ttl uint32, addresses ...string) {
	t.Helper()
	for _, n := range m.Nodes {
		what := fmt.Sprintf("%s to answer %s with %v and TTL %d", n.Name, name, addresses, ttl)
		testbed.Until(t, testbed.ReplicationBound, what, func(context.Context) error {
			var got []string
			for range 4 * len(addresses) {
				for _, rr := range testbed.Exchange(t, "udp", n, name, dns.TypeA).Answer {
					if rr.Header().Ttl != ttl {
						return fmt.Errorf("it answers %s", rr)
					}
					got = append(got, rr.(*dns.A).A.String())
				}
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, addresses) {
				return fmt.Errorf("it answers %v", got)
			}
			return nil
		})
	}
}

// checkNewerDomain checks that both nodes serve newerDomain, that an answer of n has the given number of addresses, and
// that the nodes have the settings of the domain that version 0.9.0 does not know. With one address, m.old is exempt
// from the check of the settings.
func (m *mixed) checkNewerDomain(t *testing.T, n *harness.Node, addresses int) {
	t.Helper()
	m.answers(t, newerDomain, 22, "192.0.2.3", "192.0.2.4")
	if reply := testbed.Exchange(t, "udp", n, newerDomain, dns.TypeA); len(reply.Answer) != addresses {
		t.Errorf("%s: an answer has %d addresses, want %d: %s", n.Name, len(reply.Answer), addresses, reply)
	}
	for _, n := range m.Nodes {
		check, err := n.Client.ServerHealthCheck(t.Context(), newerServer)
		if err != nil || check.HealthCheck.Path != "/newer" {
			t.Errorf("%s: the health check of %s is %+v (%v)", n.Name, newerServer, check, err)
		}
		if n == m.old && addresses == 1 {
			continue
		}
		d, err := n.Client.Domain(t.Context(), newerDomain)
		if got := &d.Domain; err != nil || got.MaxAnswers != 2 || got.OnAllDown != "all" || got.FailoverThreshold != 3 ||
			got.LatencyConfig.ToleranceMs != 9 || got.Brake.Share != "40%" {
			t.Errorf("%s: the settings of %s are %+v (%v)", n.Name, newerDomain, d, err)
		}
	}
}

// noneRefused checks that every object has an effect on both nodes.
func (m *mixed) noneRefused(t *testing.T) {
	t.Helper()
	for _, n := range m.Nodes {
		if r, err := n.Client.Replication(t.Context()); err != nil || len(r.Refused)+r.UnusedTotal > 0 {
			t.Errorf("%s: without effect are %+v, %+v (%v)", n.Name, r.Refused, r.Unused, err)
		}
	}
}

// objects returns the number of replicated objects of a node.
func (m *mixed) objects(t *testing.T, n *harness.Node) int {
	t.Helper()
	r, err := n.Client.Replication(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r.Objects
}
