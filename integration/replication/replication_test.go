package replication_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
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
	// secret is the key_sync secret of the nodes.
	secret     = "a secret of the nodes, in more than 32 characters"
	reachBound = testbed.ReplicationBound
)

func ptr[T any](v T) *T { return &v }

// site returns three nodes that replicate, none of which has started.
func site(t *testing.T) *testbed.Site { return replicating(t, 0) }

// replicating is site with backends, each of which has an agent.
func replicating(t *testing.T, backends int) *testbed.Site {
	t.Helper()
	s := testbed.NewSite(t, 3, backends)
	for i, n := range s.Nodes {
		sync := &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second, Secret: secret}
		for k, other := range s.Nodes {
			if k != i {
				sync.Peers = append(sync.Peers, "http://"+other.API.String())
			}
		}
		n.File.Overwatch.DNSSEC.KeySync = sync
	}
	return s
}

// create creates a name with one server that serves because of an override.
func create(t *testing.T, n *harness.Node, name, address string) {
	t.Helper()
	_, domainErr := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name})
	_, serverErr := n.Client.CreateServer(t.Context(), api.ServerChange{"service": name, "address": address, "port": 80,
		"region": "eu"})
	if err := errors.Join(domainErr, serverErr); err != nil {
		t.Fatal(err)
	}
	override(t, n, name, address, true)
}

func override(t *testing.T, n *harness.Node, name, address string, healthy bool) {
	t.Helper()
	if _, err := n.Client.SetOverride(t.Context(), name, address, api.OverrideRequest{Healthy: &healthy,
		Reason: "test"}); err != nil {
		t.Fatal(err)
	}
}

// remove deletes a name and its server.
func remove(t *testing.T, n *harness.Node, name, address string) {
	t.Helper()
	if err := errors.Join(n.Client.DeleteServer(t.Context(), name+":"+address+":80"),
		n.Client.DeleteDomain(t.Context(), name)); err != nil {
		t.Fatal(err)
	}
}

// post makes a change that must succeed, and returns the response.
func post(t *testing.T, n *harness.Node, path, body string) string {
	t.Helper()
	r, err := http.Post("http://"+n.API.String()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode >= 300 {
		t.Fatalf("%s: %s %s, %v", path, r.Status, text, err)
	}
	return string(text)
}

// answers waits until nodes answer a name with addresses, and NXDOMAIN without any.
func answers(t *testing.T, name string, addresses []string, nodes ...*harness.Node) {
	t.Helper()
	for _, n := range nodes {
		testbed.Until(t, reachBound, fmt.Sprintf("%s to answer %s with %v", n.Name, name, addresses),
			func(context.Context) error {
				reply := testbed.Exchange(t, "udp", n, name, dns.TypeA)
				var got []string
				for _, rr := range reply.Answer {
					if a, ok := rr.(*dns.A); ok {
						got = append(got, a.A.String())
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, addresses) || (reply.Rcode == dns.RcodeNameError) != (len(addresses) == 0) {
					return fmt.Errorf("it answers %s %v", dns.RcodeToString[reply.Rcode], got)
				}
				return nil
			})
	}
}

// alike waits until all nodes store the same objects.
func alike(t *testing.T, nodes ...*harness.Node) {
	t.Helper()
	testbed.Alike(t, nodes...)
}

// The answers of all nodes follow a decision that one node received. A node that was killed during the decision has
// stored the decision after its restart, and restores no deleted object. A node that lost its disk receives all
// objects.
func TestReplication_ADecisionReachesEveryNodeWhateverHappensToOne(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	s.StartNodes(t, s.Nodes...)
	create(t, a, "one.test.gslb.test", "192.0.2.1")
	create(t, b, "two.test.gslb.test", "192.0.2.2")
	answers(t, "one.test.gslb.test", []string{"192.0.2.1"}, s.Nodes...)
	answers(t, "two.test.gslb.test", []string{"192.0.2.2"}, s.Nodes...)
	if _, err := c.Client.ChangeDNSConfig(t.Context(), api.DNSConfigChange{DefaultTTL: ptr(44)}); err != nil {
		t.Fatal(err)
	}
	alike(t, s.Nodes...)
	testbed.Until(t, reachBound, "a setting to reach a node", func(context.Context) error {
		reply := testbed.Exchange(t, "udp", a, "one.test.gslb.test", dns.TypeA)
		if len(reply.Answer) == 0 || reply.Answer[0].Header().Ttl != 44 {
			return fmt.Errorf("it answers %v", reply.Answer)
		}
		return nil
	})

	// The response contains the nodes that have stored the change.
	body := post(t, a, "/api/v1/domains?wait_for_peers=30s", `{"name":"five.test.gslb.test"}`)
	if !strings.Contains(body, fmt.Sprintf(`"replication":{"has":["%s","%s"],"lacks":[]}`, b.Name, c.Name)) {
		t.Errorf("the reply to a change: %s", body)
	}

	// gslbctl sends a change to one node and reports which other nodes have stored it.
	argv := []string{testbed.Binaries(t).Control}
	for _, n := range s.Nodes {
		argv = append(argv, "--api", n.API.String())
	}
	testbed.Command(t, append(argv, "--all-nodes", "domains", "add", "four.test.gslb.test")...).Want(t, 0,
		"has the change")
	testbed.Command(t, append(argv, "--all-nodes", "domains", "remove", "four.test.gslb.test", "-y")...).Want(t, 0,
		"has the change")

	// One node is down while a name is created, a name is deleted, a name gets another server, and a server is drained.
	testbed.Kill(t, c)
	remove(t, b, "one.test.gslb.test", "192.0.2.1")
	create(t, a, "three.test.gslb.test", "192.0.2.3")
	if _, err := a.Client.CreateServer(t.Context(), api.ServerChange{"service": "two.test.gslb.test",
		"address": "192.0.2.22",
		"port":    80, "region": "eu"}); err != nil {
		t.Fatal(err)
	}
	override(t, a, "two.test.gslb.test", "192.0.2.22", true)
	if _, err := b.Client.DrainServer(t.Context(), "two.test.gslb.test:192.0.2.2:80", api.DrainRequest{
		Duration: "1s"}); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, reachBound, "the status to tell that a peer is down", func(ctx context.Context) error {
		r, err := a.Client.Replication(ctx)
		if err != nil || len(r.Peers) != 2 || r.Joining {
			return fmt.Errorf("%+v, %w", r, err)
		}
		for _, p := range r.Peers {
			if p.NodeID == c.Name && !p.Connected && p.Behind > 0 && p.Error != nil {
				return nil
			}
		}
		return fmt.Errorf("%+v", r.Peers)
	})
	s.StartNodes(t, c)
	answers(t, "one.test.gslb.test", nil, s.Nodes...)
	answers(t, "two.test.gslb.test", []string{"192.0.2.22"}, s.Nodes...)
	answers(t, "three.test.gslb.test", []string{"192.0.2.3"}, s.Nodes...)
	alike(t, s.Nodes...)

	// All nodes have stored all objects on disk, including the nodes that received them only by replication.
	for _, n := range s.Nodes {
		testbed.Kill(t, n)
	}
	s.StartNodes(t, s.Nodes...)
	answers(t, "one.test.gslb.test", nil, s.Nodes...)
	answers(t, "two.test.gslb.test", []string{"192.0.2.22"}, s.Nodes...)

	// The data of one node is deleted.
	testbed.Stop(t, c)
	if err := os.RemoveAll(c.File.DataDir); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, c)
	answers(t, "three.test.gslb.test", []string{"192.0.2.3"}, c)
	answers(t, "one.test.gslb.test", nil, s.Nodes...)
	alike(t, s.Nodes...)
}

// A node with another secret changes nothing on other nodes, and accepts nothing from them.
func TestReplication_AnotherSecretChangesNothing(t *testing.T) {
	t.Parallel()
	s := site(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	c.File.Overwatch.DNSSEC.KeySync.Secret = "another secret than all others, in as many characters"
	s.StartNodes(t, s.Nodes...)
	create(t, c, "theirs.test.gslb.test", "192.0.2.9")
	create(t, a, "ours.test.gslb.test", "192.0.2.1")
	answers(t, "ours.test.gslb.test", []string{"192.0.2.1"}, a, b)
	testbed.Until(t, reachBound, "the status to tell why", func(ctx context.Context) error {
		r, err := c.Client.Replication(ctx)
		if err != nil || len(r.Peers) != 2 || r.Peers[0].Connected || r.Peers[0].Error == nil {
			return fmt.Errorf("%+v, %w", r, err)
		}
		return nil
	})
	answers(t, "theirs.test.gslb.test", nil, a, b)
	answers(t, "ours.test.gslb.test", nil, c)
}
