package upgrade_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// baseline is the commit that upgrades start from as long as no version is tagged: the first that was in use, with
// store schema 1, agents' directories without a schema, and nodes that do not exchange keys.
const baseline = "8af032147c8d8c40be02134e9b085aa298bf1ae9"

// fromVariable names other versions to upgrade from, with spaces between them: what git knows as a commit.
const fromVariable = "GSLB_UPGRADE_FROM"

// git runs git in this repository.
func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = "../.."
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, words.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// earlier returns the commits to upgrade from: the newest tagged version, or the baseline. A clone that has neither
// skips the test: the frames and stores of earlier versions, which are in the repository, are then all that is tested.
func earlier(t *testing.T) []string {
	t.Helper()
	if named := strings.Fields(os.Getenv(fromVariable)); len(named) > 0 {
		return named
	}
	tag, err := git(t, "describe", "--tags", "--abbrev=0", "--match", "overwatch/v*", "HEAD^")
	if err == nil && tag != "" {
		return []string{tag}
	}
	if _, err := git(t, "cat-file", "-e", baseline+"^{tree}"); err != nil {
		t.Skipf("this clone has neither a tag overwatch/v* nor the commit %.12s, so there are no programs of before: `git "+
			"fetch --unshallow --tags` (%v)", baseline, err)
	}
	return []string{baseline}
}

// buildOf builds the programs of a commit.
func buildOf(t *testing.T, commit string) harness.Binaries {
	t.Helper()
	dir := t.TempDir()
	archive := filepath.Join(dir, "sources.tar")
	if _, err := git(t, "archive", "-o", archive, commit); err != nil {
		t.Fatal(err)
	}
	b := harness.Binaries{Overwatch: filepath.Join(dir, "gslb-overwatch"), Agent: filepath.Join(dir, "gslb-agent")}
	for _, args := range [][]string{
		{"tar", "-xf", archive},
		{"go", "build", "-trimpath", "-buildvcs=false", "-o", dir, "./overwatch/cmd/gslb-overwatch",
			"./agent/cmd/gslb-agent"},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s of %s: %v\n%s", strings.Join(args, " "), commit, err, out)
		}
	}
	return b
}

// replace ends a program and starts another version of it with the same files.
func replace(t *testing.T, u *harness.Unit, s interface{ Start() error }, program string) {
	t.Helper()
	testbed.Stop(t, u)
	u.Use(program)
	testbed.Start(t, s)
}

// failsOver takes a backend away and brings it back: every node follows.
func (s *site) failsOver(t *testing.T, what string, b *harness.Backend) {
	t.Helper()
	s.Story.Event("failover: %s", what)
	died := testbed.Kill(t, b)
	for _, n := range s.Nodes {
		s.Gone(t, n, b.At.Addr(), died, testbed.StartBound)
	}
	testbed.Start(t, b)
	back := time.Now()
	for _, n := range s.Nodes {
		s.Answered(t, n, b.At.Addr(), back, testbed.StartBound)
	}
}

// keptDomain is a domain that the test makes through the API of the earlier version.
const keptDomain = "kept.test.gslb.test"

// asBefore checks that what a node knew before it was replaced is there: overrides, domains, keys, pins.
func (s *site) asBefore(t *testing.T, n *harness.Node, keys string) {
	t.Helper()
	ctx := t.Context()
	if reply := testbed.AskNode(t, n, "udp", keptDomain, dns.TypeA, 1232, false); len(reply.Answer) != 1 ||
		!strings.HasSuffix(reply.Answer[0].String(), "192.0.2.9") {
		t.Errorf("%s: what the API made: %s", n.Name, reply)
	}
	overrides, err := n.Client.Overrides(ctx)
	if err != nil || len(overrides.Overrides) != 1 || overrides.Overrides[0].Reason != "kept over the upgrade" {
		t.Errorf("%s: overrides %+v (%v)", n.Name, overrides, err)
	}
	has := tagsAt(t, n)
	for _, key := range strings.Fields(keys) {
		if !strings.Contains(has, key) {
			t.Errorf("%s has the keys %s, before it had %s", n.Name, has, keys)
		}
	}
	for _, a := range s.Agents {
		if _, err := n.Client.Agent(ctx, a.Name); err != nil {
			t.Errorf("%s: the pin of %s: %v", n.Name, a.Name, err)
		}
	}
}

// tagsAt returns the tags of a node's keys.
func tagsAt(t *testing.T, n *harness.Node) string {
	t.Helper()
	var tags []string
	for _, key := range signed.KeysOf(t, n, testbed.ZoneName) {
		tags = append(tags, fmt.Sprint(key.KeyTag()))
	}
	return strings.Join(tags, " ")
}

// A fleet is upgraded one program after the other, while clients ask: agents and nodes of both versions work together
// in every mixture, each program takes over what the one before it left, and the node that is not being replaced never
// fails a lookup. Then the way back that the manual tells.
func TestUpgrade_OneAfterTheOtherNoLookupFails(t *testing.T) {
	t.Parallel()
	for _, commit := range earlier(t) {
		t.Run(commit, func(t *testing.T) { upgrade(t, buildOf(t, commit)) })
	}
}

func upgrade(t *testing.T, before harness.Binaries) {
	now := testbed.Binaries(t)
	s := newSite(t, 2, 2)
	first, second := s.Nodes[0], s.Nodes[1]
	for i, n := range s.Nodes {
		n.Use(before.Overwatch)
		n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
			Peers: []string{"http://" + s.Nodes[1-i].API.String()}, PollInterval: testbed.SyncPoll, Timeout: 2 * time.Second,
			Secret: "a secret of the nodes, in more than 32 characters",
		}
	}
	s.Agents[0].Use(before.Agent) // and the other is ahead of its nodes
	s.StartAll(t)
	yes, ctx := true, t.Context()
	for _, n := range s.Nodes {
		if _, err := n.Client.CreateDomain(ctx, api.DomainChange{"name": keptDomain}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.CreateServer(ctx, api.ServerCreate{Service: keptDomain, Address: "192.0.2.9", Port: 80,
			Region: "eu"}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client.SetOverride(ctx, keptDomain, "192.0.2.9",
			api.OverrideRequest{Healthy: &yes, Reason: "kept over the upgrade"}); err != nil {
			t.Fatal(err)
		}
	}
	s.failsOver(t, "an earlier agent, earlier nodes", s.Backends[0])
	s.failsOver(t, "a later agent, earlier nodes", s.Backends[1])

	for _, n := range s.Nodes {
		other, since, keys := s.Nodes[0], time.Now(), tagsAt(t, n)
		if other == n {
			other = s.Nodes[1]
		}
		replace(t, n.Unit, n, now.Overwatch)
		s.Ready(t, n)
		back := time.Now()
		s.NoFailures(t, other, since)
		s.asBefore(t, n, keys)
		for _, b := range s.Backends {
			s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
		}
		s.failsOver(t, "an earlier agent, "+n.Name+" replaced", s.Backends[0])
		s.failsOver(t, "a later agent, "+n.Name+" replaced", s.Backends[1])
		s.NoFailures(t, n, back)
	}
	since := time.Now()
	replace(t, s.Agents[0].Unit, s.Agents[0], now.Agent)
	for _, n := range s.Nodes {
		s.Status(t, n, s.Backends[0], testbed.StartBound, testbed.WantSound)
	}
	s.failsOver(t, "all replaced", s.Backends[0])
	testbed.Until(t, testbed.KeyBound, "both nodes to have the same keys", func(context.Context) error {
		if a, b := tagsAt(t, first), tagsAt(t, second); a != b {
			return fmt.Errorf("%s and %s", a, b)
		}
		return nil
	})
	for _, n := range s.Nodes {
		s.NoFailures(t, n, since)
	}
	s.goesBack(t, first, before.Overwatch)
}

// goesBack starts the earlier program again: it refuses what is newer than it, and takes the copy of before.
func (s *site) goesBack(t *testing.T, n *harness.Node, program string) {
	t.Helper()
	copies, err := filepath.Glob(filepath.Join(n.File.DataDir, "gslb.db.schema-*"))
	if err != nil || len(copies) == 0 { // that version has the schema of now
		t.Logf("nothing was converted: %v", err)
		return
	}
	kept, since := copies[len(copies)-1], time.Now()
	replace(t, n.Unit, n, program)
	testbed.Ends(t, n, testbed.StartBound)
	if words := fmt.Sprint(n.Output()); !strings.Contains(words, "has schema ") {
		t.Errorf("it does not say why: %s", words)
	}
	if err := errors.Join(os.Rename(kept, filepath.Join(n.File.DataDir, "gslb.db")),
		os.Remove(filepath.Join(n.File.DataDir, "gslb.db.copy"))); err != nil {
		t.Fatal(err)
	}
	testbed.Start(t, n)
	s.Ready(t, n)
	for _, b := range s.Backends {
		s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
	}
	s.NoFailures(t, s.Nodes[1], since)
}
