package upgrade_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// released is the commit of version 0.9.0, the only earlier released version.
const released = "681cb23ab936ea8a44a08e029fd67c053c80de42"

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

// releasedPrograms builds the programs of version 0.9.0. A clone without its commit skips the test.
func releasedPrograms(t *testing.T) harness.Binaries {
	t.Helper()
	if _, err := git(t, "cat-file", "-e", released+"^{tree}"); err != nil {
		t.Skipf("this clone lacks the commit %.12s of version 0.9.0: `git fetch --unshallow` (%v)", released, err)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "sources.tar")
	if _, err := git(t, "archive", "-o", archive, released); err != nil {
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
			t.Fatalf("%s of %s: %v\n%s", strings.Join(args, " "), released, err, out)
		}
	}
	return b
}

// replace stops a program and starts another version of the program with the same files.
func replace(t *testing.T, u *harness.Unit, s interface{ Start() error }, program string) {
	t.Helper()
	testbed.Stop(t, u)
	u.Use(program)
	testbed.Start(t, s)
}

// failsOver stops and restarts a backend, and checks that every node removes and restores it.
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

// keptDomain is a domain that the test creates through the API of the earlier version.
const keptDomain = "kept.test.gslb.test"

// keptReason is the reason of the overrides of the test.
const keptReason = "set before the upgrade"

// define creates a domain through the API of a node, with a server and an override of the server.
func (s *site) define(t *testing.T, n *harness.Node, domain, address string, more api.DomainChange) {
	t.Helper()
	ctx, yes, change := t.Context(), true, api.DomainChange{"name": domain}
	maps.Copy(change, more)
	_, domainErr := n.Client.CreateDomain(ctx, change)
	_, serverErr := n.Client.CreateServer(ctx, api.ServerChange{"service": domain, "address": address, "port": 80,
		"region": "eu"})
	_, overrideErr := n.Client.SetOverride(ctx, domain, address, api.OverrideRequest{Healthy: &yes, Reason: keptReason})
	if err := errors.Join(domainErr, serverErr, overrideErr); err != nil {
		t.Fatal(err)
	}
}

// asBefore checks that a replaced node still has its data: overrides, domains, keys and pins.
func (s *site) asBefore(t *testing.T, n *harness.Node, keys string) {
	t.Helper()
	ctx := t.Context()
	if reply := testbed.AskNode(t, n, "udp", keptDomain, dns.TypeA, 1232, false); len(reply.Answer) != 1 ||
		!strings.HasSuffix(reply.Answer[0].String(), "192.0.2.9") {
		t.Errorf("%s: what the API made: %s", n.Name, reply)
	}
	overrides, err := n.Client.Overrides(ctx)
	if err != nil || !slices.ContainsFunc(overrides.Overrides, func(o api.Override) bool {
		return o.Service == keptDomain && o.Reason == keptReason
	}) {
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

// A fleet of version 0.9.0 is upgraded one program after the other, while clients send queries. Agents and nodes of
// both versions work together in every combination. Each program takes over the files of its predecessor, and the other
// node never fails a lookup. Then a node and an agent return to version 0.9.0 with their files.
func TestUpgrade_FromVersion090AndBackNoLookupFails(t *testing.T) {
	t.Parallel()
	before := releasedPrograms(t)
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
	s.define(t, first, keptDomain, "192.0.2.9", nil) // the second node has them by replication
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
	s.goesBack(t, first, before)
}

// lateDomain is a domain that the test creates through the API of this version, with a setting that 0.9.0 lacks.
const lateDomain = "late.test.gslb.test"

// goesBack starts version 0.9.0 of a node, and of the agent of the first backend, with the files that this version has
// written. Neither program loses data, and the other node never fails a lookup.
func (s *site) goesBack(t *testing.T, n *harness.Node, before harness.Binaries) {
	t.Helper()
	keys, other := tagsAt(t, n), s.Nodes[1]
	s.define(t, n, lateDomain, "192.0.2.10", api.DomainChange{"max_answers": 1})
	since := time.Now()
	replace(t, n.Unit, n, before.Overwatch)
	s.Ready(t, n)
	s.asBefore(t, n, keys)
	if reply := testbed.AskNode(t, n, "udp", lateDomain, dns.TypeA, 1232, false); len(reply.Answer) != 1 {
		t.Errorf("%s: the domain of this version: %s", n.Name, reply)
	}
	replace(t, s.Agents[0].Unit, s.Agents[0], before.Agent)
	for _, b := range s.Backends {
		s.Status(t, n, b, testbed.StartBound, testbed.WantSound)
	}
	s.failsOver(t, "a node and an agent back at version 0.9.0", s.Backends[0])
	s.NoFailures(t, other, since)
}
