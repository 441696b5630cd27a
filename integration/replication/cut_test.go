package replication_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// sites contains three nodes that replicate, each at a separate site, and clients at another location.
type sites struct {
	*testbed.Site
	net     *network.Network
	at      []*network.Site // of each node
	clients *network.Site
}

func newSites(t *testing.T, n *network.Network) *sites {
	t.Helper()
	s := &sites{Site: testbed.NewNetworkSite(t, []string{"eu"}), net: n}
	var networks []string
	for i, name := range []string{"eu", "us", "ap"} {
		s.at = append(s.at, testbed.AddSite(t, n, name, time.Duration(i*20)*time.Millisecond))
		s.NodeAt(t, s.at[i], testbed.AddHost(t, s.at[i]), "ow-"+name, "eu")
		v4, _ := s.at[i].Networks()
		networks = append(networks, v4.String())
	}
	s.clients = testbed.AddSite(t, n, "clients", 0)
	testbed.AddHost(t, s.clients)
	for i, node := range s.Nodes {
		sync := &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second, Secret: secret}
		for k, other := range s.Nodes {
			if k != i {
				sync.Peers = append(sync.Peers, "http://"+other.API.String())
			}
		}
		node.File.Overwatch.DNSSEC.KeySync, node.File.Overwatch.Replication.Enabled = sync, true
		node.File.API.More["allowed_networks"] = networks
	}
	return s
}

// says waits until a node returns the expected answers for a name to a client at the site of the node.
func (s *sites) says(t *testing.T, i int, name, what string, good func(*dns.Msg) bool) {
	t.Helper()
	n := s.Nodes[i]
	testbed.Until(t, time.Minute, fmt.Sprintf("%s to answer %s: %s", n.Name, name, what), func(ctx context.Context) error {
		conn, err := s.at[i].Dial(ctx, "udp", n.DNS.String())
		if err != nil {
			return err
		}
		defer conn.Close()
		reply, _, err := new(dns.Client).ExchangeWithConnContext(ctx, new(dns.Msg).SetQuestion(name+".", dns.TypeA),
			&dns.Conn{Conn: conn})
		if err == nil && !good(reply) {
			err = fmt.Errorf("it answers %s %v", dns.RcodeToString[reply.Rcode], reply.Answer)
		}
		return err
	})
}

func isGone(m *dns.Msg) bool  { return m.Rcode == dns.RcodeNameError }
func isThere(m *dns.Msg) bool { return len(m.Answer) > 0 }

func hasTTL(ttl uint32) func(*dns.Msg) bool {
	return func(m *dns.Msg) bool { return len(m.Answer) > 0 && m.Answer[0].Header().Ttl == ttl }
}

// setTTL changes the TTL of a name. The change must be acknowledged.
func setTTL(t *testing.T, n *harness.Node, name string, ttl int) {
	t.Helper()
	if _, err := n.Client.ChangeDomain(t.Context(), name, api.DomainChange{"ttl": ttl}); err != nil {
		t.Fatal(err)
	}
}

// again kills a node with SIGKILL and restarts it. The node answers before it can have queried other nodes.
func (s *sites) again(t *testing.T, i int) {
	t.Helper()
	testbed.Kill(t, s.Nodes[i])
	testbed.Start(t, s.Nodes[i])
	testbed.Until(t, time.Minute, s.Nodes[i].Name+" to answer its API", func(ctx context.Context) error {
		_, err := s.Nodes[i].Client.Replication(ctx)
		return err
	})
}

// A site is disconnected from all other sites while operators make decisions on both sides. Nodes of both sides are
// killed after they acknowledged a decision. During the disconnection, the answers of each side follow its own
// decisions. After the reconnection, the answers follow the decisions of both sides: the later of two conflicting
// decisions applies, the audit log of the other node contains the replaced decision, and deleted objects stay deleted.
// The node that is not killed fails no lookup.
//
// Fault 8.
// Fault 14.
func TestReplication_SitesThatAreCutOffAndKilled(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		const kept, gone, ours, theirs = "one.test.gslb.test", "two.test.gslb.test", "eu.test.gslb.test",
			"us.test.gslb.test"
		s := newSites(t, n)
		eu, us, ap := s.Nodes[0], s.Nodes[1], s.Nodes[2]
		s.StartNodes(t, s.Nodes...)
		create(t, eu, kept, "192.0.2.1")
		create(t, us, gone, "192.0.2.2")
		for i := range s.Nodes {
			s.says(t, i, kept, "its server", isThere)
			s.says(t, i, gone, "its server", isThere)
		}
		alike(t, s.Nodes...)
		watch := harness.NewWatch([]*harness.Node{ap}, []string{kept}, testbed.Pace)
		watch.Dial = s.clients.Dial
		s.RunWatch(t, watch)
		began := time.Now()

		if err := n.Rules(network.Cut(s.at[0])...); err != nil {
			t.Fatal(err)
		}
		setTTL(t, eu, kept, 11)
		create(t, eu, ours, "192.0.2.3")
		s.again(t, 0)
		s.says(t, 0, kept, "the TTL of its operator", hasTTL(11))
		s.says(t, 0, ours, "its server", isThere)
		s.says(t, 0, gone, "what it knows", isThere)
		remove(t, us, gone, "192.0.2.2")
		setTTL(t, us, kept, 22)
		create(t, us, theirs, "192.0.2.4")
		s.again(t, 1)
		for i := range s.Nodes[1:] {
			s.says(t, i+1, kept, "the TTL of its side", hasTTL(22))
			s.says(t, i+1, gone, "nothing", isGone)
			s.says(t, i+1, theirs, "its server", isThere)
			s.says(t, i+1, ours, "nothing yet", isGone)
		}

		if err := n.Rules(); err != nil {
			t.Fatal(err)
		}
		s.again(t, 0)
		for i := range s.Nodes {
			s.says(t, i, kept, "the later TTL", hasTTL(22))
			s.says(t, i, gone, "nothing", isGone)
			s.says(t, i, ours, "its server", isThere)
			s.says(t, i, theirs, "its server", isThere)
		}
		alike(t, s.Nodes...)
		testbed.Until(t, time.Minute, "the audit log to name what was overtaken", func(ctx context.Context) error {
			log, err := eu.Client.AuditLog(ctx, url.Values{})
			if err == nil && !slices.ContainsFunc(log.Entries, func(e api.AuditEntry) bool {
				return e.Action == api.AuditSync && e.ResourceID == kept && e.Actor == us.Name
			}) {
				err = errors.New("no entry does")
			}
			return err
		})
		for _, a := range watch.Since(ap, kept, began) {
			if !a.Good() {
				t.Errorf("%s failed a lookup: %+v", ap.Name, a)
				break
			}
		}
	})
}

// A peer with a full disk keeps its objects, answers, and reports that it cannot store decisions of other nodes. The
// other nodes do not wait for it. When the disk has space again, the peer receives all objects automatically.
//
// Fault 13.
func TestReplication_APeerWhoseDiskIsFull(t *testing.T) {
	disk := testbed.SmallDisk(t)
	s := site(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	c.File.DataDir = filepath.Join(disk, "data")
	s.StartNodes(t, s.Nodes...)
	create(t, a, "one.test.gslb.test", "192.0.2.1")
	answers(t, "one.test.gslb.test", []string{"192.0.2.1"}, s.Nodes...)
	alike(t, s.Nodes...)

	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 32<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	create(t, a, "two.test.gslb.test", "192.0.2.2")
	answers(t, "two.test.gslb.test", []string{"192.0.2.2"}, a, b)
	testbed.Until(t, time.Minute, "the status to say so", func(ctx context.Context) error {
		here, err := c.Client.Replication(ctx)
		there, err2 := a.Client.Replication(ctx)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		unable := slices.ContainsFunc(here.Peers, func(p api.ReplicationPeer) bool {
			return p.Error != nil && strings.Contains(*p.Error, "not stored")
		})
		behind := slices.ContainsFunc(there.Peers, func(p api.ReplicationPeer) bool {
			return p.NodeID == c.Name && p.Behind > 0
		})
		if !unable || !behind {
			return fmt.Errorf("it says %+v, the other node %+v", here.Peers, there.Peers)
		}
		return nil
	})
	answers(t, "one.test.gslb.test", []string{"192.0.2.1"}, s.Nodes...)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	answers(t, "two.test.gslb.test", []string{"192.0.2.2"}, c)
	alike(t, s.Nodes...)
}
