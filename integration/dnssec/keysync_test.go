package dnssec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// keySite returns three stopped nodes that exchange keys.
func keySite(t *testing.T) (*testbed.Site, *recorder) {
	t.Helper()
	s := testbed.NewSite(t, 3, 0)
	tap := record(t, s.Nodes[0])
	for i, n := range s.Nodes {
		sync := &harness.KeySync{PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters"}
		for k, other := range s.Nodes {
			switch {
			case k == i:
			case k == 0 && i == 1:
				sync.Peers = append(sync.Peers, tap.URL)
			default:
				sync.Peers = append(sync.Peers, "http://"+other.API.String())
			}
		}
		n.File.Overwatch.DNSSEC.KeySync = sync
	}
	return s, tap
}

// Three nodes start without keys and pass through all failures of a node. Validators that know the first DS, and cache
// keys, accept every answer.
//
// Fault 16.
// Fault 31.
// Fault 32: Two nodes without keys start at the same time. All nodes end with one key, and no answer is bogus.
func TestKeySync_ThreeNodesHaveTheSameKeysWhateverHappensToOne(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"unbound", "delv", "dnssec-keygen"} {
		testbed.Judge(t, tool)
	}
	s, tap := keySite(t)
	liar := startLiar(t)
	a, b, c := s.Nodes[0], s.Nodes[1], s.Nodes[2]
	a.File.Overwatch.DNSSEC.KeySync.Peers = append(a.File.Overwatch.DNSSEC.KeySync.Peers, liar)

	s.StartNodes(t, s.Nodes...) // together, without keys
	first := signed.SameKeys(t, 1, s.Nodes...)
	ds := signed.DS(t, a)
	end := watchKeys(t, ds.DSRecord, s.Nodes...)

	testbed.Until(t, testbed.KeyBound, "status and metrics to tell which node failed with a peer",
		func(ctx context.Context) error {
			status, err := a.Client.DNSSECStatus(ctx)
			if err != nil || len(status.Sync.Peers) != 3 || !status.Sync.Peers[0].OK || status.Sync.Peers[0].NodeID != b.Name ||
				status.Sync.Peers[2].OK || status.Sync.Peers[2].Error == nil || status.Sync.LastSyncError == nil {
				return fmt.Errorf("the status with a liar among the peers is %+v (%w)", status.Sync, err)
			}
			if testbed.Metric(t, a, "gslb_dnssec_sync_success") != 0 || testbed.Metric(t, b, "gslb_dnssec_sync_success") != 1 ||
				testbed.Metric(t, b, "gslb_dnssec_last_sync_timestamp") == 0 {
				return errors.New("the metrics do not")
			}
			return nil
		})

	// A node loses its data.
	testbed.Stop(t, c)
	backup := filepath.Join(c.File.DataDir, "..", "backup")
	if err := os.Rename(c.File.DataDir, backup); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, c)
	if got := signed.SameKeys(t, 1, s.Nodes...); !slices.Equal(got, first) {
		t.Errorf("keys %v after one was wiped, before %v", got, first)
	}

	// A second key in the directory of one node is published and signs on all nodes. The API starts the exchange.
	testbed.Stop(t, a)
	keygen(t, a)
	s.StartNodes(t, a)
	for _, n := range []*harness.Node{b, c} {
		syncNow(t, n)
		if tags, err := testbed.KeyTags(t.Context(), n); err != nil || len(tags) != 2 {
			t.Errorf("%s publishes %v when the exchange is over (%v)", n.Name, tags, err)
		}
	}
	signed.SameKeys(t, 2, s.Nodes...)

	// A killed node is restored from a backup without that key.
	testbed.Kill(t, c)
	if err := errors.Join(os.RemoveAll(c.File.DataDir), os.Rename(backup, c.File.DataDir)); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, c)
	signed.SameKeys(t, 2, s.Nodes...)

	// A node has a damaged key file (row 16). The copy of a peer repairs it.
	testbed.Stop(t, b)
	private := testbed.KeyFilesOf(t, b)[0]
	if err := os.Truncate(private, 30); err != nil {
		t.Fatal(err)
	}
	s.StartNodes(t, b)
	signed.SameKeys(t, 2, s.Nodes...)
	if _, err := os.Stat(private + ".aside"); err != nil {
		t.Error(err)
	}

	testbed.Pause(t.Context(), 2*testbed.SyncPoll) // the watcher sees a while in which nothing happens
	end()
	for _, n := range s.Nodes {
		delvSOA(t, n, ds)
	}
	checkChain(t, s, ds)
	nothingLeaks(t, s, tap)
}

// syncNow makes a node exchange keys immediately. On a stalled machine a peer may answer too late.
func syncNow(t *testing.T, n *harness.Node) {
	t.Helper()
	testbed.Until(t, testbed.StartBound, n.Name+" to exchange keys when it is told to", func(ctx context.Context) error {
		done, err := n.Client.SyncDNSSEC(ctx)
		if err == nil && !done.Synced {
			err = fmt.Errorf("%+v", done)
		}
		return err
	})
}

// keygen creates a key with BIND's tool.
func keygen(t *testing.T, n *harness.Node) { keygenFor(t, n, testbed.ZoneName) }

// keygenFor is keygen for several zones.
func keygenFor(t *testing.T, n *harness.Node, zones ...string) {
	t.Helper()
	dir := filepath.Join(n.File.DataDir, "dnssec")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, zone := range zones {
		out, err := exec.CommandContext(t.Context(), testbed.Judge(t, "dnssec-keygen"), "-q", "-K", dir, "-a",
			"ECDSAP256SHA256", "-f", "KSK", zone).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// delvSOA makes delv validate one answer of a node.
func delvSOA(t *testing.T, n *harness.Node, ds api.DSRecord) {
	t.Helper()
	anchors := filepath.Join(t.TempDir(), "anchors")
	text := fmt.Sprintf("trust-anchors { %s static-ds %d %d %d \"%s\"; };\n", ds.Zone, ds.KeyTag, ds.Algorithm,
		ds.DigestType, ds.Digest)
	testbed.Write(t, anchors, 0o600, text)
	out, err := exec.CommandContext(t.Context(), testbed.Judge(t, "delv"), "@"+n.DNS.Addr().String(), "-p",
		fmt.Sprint(n.DNS.Port()), "-a", anchors, "+root="+testbed.ZoneName, testbed.ZoneName, "SOA").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fully validated") {
		t.Errorf("delv through %s: %v\n%s", n.Name, err, out)
	}
}

// checkChain checks that gslbctl agrees: secure with the correct DS, bogus with another DS, and an error without a
// server.
func checkChain(t *testing.T, s *testbed.Site, ds api.DSRecord) {
	t.Helper()
	b := testbed.Binaries(t)
	var nodes, servers []string
	for _, n := range s.Nodes {
		nodes = append(nodes, "--api", n.API.String(), "--dns", n.DNS.String())
		servers = append(servers, "--server", n.DNS.String())
	}
	record := func(digest string) string { return fmt.Sprintf("%d 13 2 %s", ds.KeyTag, digest) }
	check := func(args ...string) testbed.Result {
		return testbed.Command(t, append([]string{b.Control, "dnssec", "check", testbed.ZoneName}, args...)...)
	}
	r := check(append(nodes, "--ds", ds.DSRecord)...)
	r.Want(t, testbed.ExitOK, "secure")
	if strings.Count(r.Output, "secure") != len(s.Nodes) {
		t.Errorf("it says\n%s", r.Output)
	}
	check(append(servers, "--ds", record(ds.Digest))...).Want(t, testbed.ExitOK, "secure")
	check(append(servers, "--ds", record(strings.Repeat("AB", 32)))...).Want(t, testbed.ExitFailure, "bogus",
		"matches none of the keys")
	check("--server", "127.0.0.1:1", "--ds", ds.DSRecord).Want(t, testbed.ExitBadInput, "unanswered")
	testbed.Command(t, append([]string{b.Control, "dnssec", "sync"}, nodes...)...).Want(t, testbed.ExitFailure,
		s.Nodes[1].API.String(), "no key of these peers was accepted")
}
