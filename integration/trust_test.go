package integration_test

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

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// refusalBound is how long it may take until a refused agent says why: "within seconds".
const refusalBound = 15 * time.Second

// guarded is a site with an agent that is not to be believed.
type guarded struct {
	*site
	intruder *harness.Agent
	target   *harness.Backend // that the intruder would bring into the answers
}

// newGuarded prepares a site with one proper agent and an intruder, which the test has yet to spoil.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	s := newSite(t, 1, 2)
	g := &guarded{site: s, intruder: s.agents[1], target: s.backends[1]}
	s.agents = s.agents[:1]
	return g
}

// refuse starts the intruder and checks that it says why it is not believed, in a line with all the words, that it
// goes on trying, and that no client noticed anything.
func (g *guarded) refuse(t *testing.T, words ...string) {
	t.Helper()
	n := g.nodes[0]
	start(t, g.intruder)
	until(t, refusalBound, "the agent to say why it is refused", func(context.Context) error {
		return said(g.intruder.Unit, words...)
	})
	for range quietAnswers {
		g.answered(t, n, g.backends[0].At.Addr(), time.Now(), time.Second)
	}
	if first := g.watch.FirstWith(n, appName, g.target.At.Addr(), g.began); !first.IsZero() {
		t.Errorf("%s answered the intruder's backend", n.Name)
	}
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Backends {
		if b.Address == g.target.At.Addr().String() {
			t.Errorf("%s took the claim: %+v", n.Name, b)
		}
	}
	if !g.intruder.Running() {
		t.Error("the agent gave up: it has to go on trying, the operator may mend the node's side")
	}
	g.noFailures(t, n, g.began)
}

// audited checks that the audit log has a refused claim of the intruder, with this code, and is whole.
func (g *guarded) audited(t *testing.T, code string) {
	t.Helper()
	n := g.nodes[0]
	until(t, refusalBound, "the refusal to be in the audit log", func(ctx context.Context) error {
		list, err := n.Client.AuditLog(ctx, url.Values{"actions": {"validate"}, "resources": {"agent"}, "status": {api.AuditFailure}})
		if err != nil {
			return err
		}
		for _, e := range list.Entries {
			if e.ResourceID == g.intruder.Name && strings.Contains(e.Details["error"], code) {
				return nil
			}
		}
		return fmt.Errorf("it has %+v", list.Entries)
	})
	command(t, binaries(t).Control, "--api", n.API.String(), "audit", "verify").want(t, exitOK)
}

// said checks that a program printed a line with all the words, whatever their case.
func said(u *harness.Unit, words ...string) error {
	for _, l := range u.Output() {
		line := strings.ToLower(l.Text)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, strings.ToLower(w)) }) {
			return nil
		}
	}
	return fmt.Errorf("no line of %s has all of %q", u.Name, words)
}

// toldBound is how long it may take until what a program does is in its log and its metrics: either may come after what is seen of it elsewhere.
const toldBound = 5 * time.Second

// tells waits until a program has printed a line with all the words.
func tells(t *testing.T, u *harness.Unit, words ...string) {
	t.Helper()
	until(t, toldBound, u.Name+" to say so", func(context.Context) error { return said(u, words...) })
}

// counts waits until a metric of a node, or the sum of some, is more than nothing.
func counts(t *testing.T, n *harness.Node, what string, names ...string) {
	t.Helper()
	until(t, toldBound, n.Name+" to count "+what, func(context.Context) error {
		for _, name := range names {
			if metric(t, n, name) > 0 {
				return nil
			}
		}
		return fmt.Errorf("%q is 0", names)
	})
}

// comesTo waits until a metric of a node has a value.
func comesTo(t *testing.T, n *harness.Node, name string, want float64) {
	t.Helper()
	until(t, toldBound, fmt.Sprintf("%s of %s to be %v", name, n.Name, want), func(context.Context) error {
		if got := metric(t, n, name); got != want {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
}

func TestTrust_WrongGossipKeyIsNamedOnBothSides(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.intruder.File.Agent.Gossip.EncryptionKey = harness.NewGossipKey()
	g.startAll(t)
	g.refuse(t, "encryption_key")
	counts(t, g.nodes[0], "what its key does not open", `gslb_gossip_dropped_total{reason="key"}`)
}

func TestTrust_WrongTokenIsRefusedAndNamed(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Identity.ServiceTokens[appName] = harness.NewToken()
	g.startAll(t)
	g.refuse(t, "token", appName)
	counts(t, g.nodes[0], "the wrong token", `gslb_gossip_refused_total{code="wrong_token"}`, `gslb_gossip_claims_refused_total{code="wrong_token"}`)
	g.audited(t, "wrong_token")
}

// An agent of one service, with that service's own token, has no say in another (I5).
func TestTrust_AnotherServicesTokenGivesNoSay(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Identity.ServiceTokens[appName] = g.Tokens[otherName]
	g.startAll(t)
	g.refuse(t, "token", appName)
	g.audited(t, "wrong_token")
}

// A service that the nodes have no token for is refused by name.
func TestTrust_UnknownServiceIsRefusedAndNamed(t *testing.T) {
	g := newGuarded(t)
	const unknown = "unknown.test.gslb.test"
	g.intruder.File.Agent.Backends[0].Service = unknown
	g.intruder.File.Agent.Identity.ServiceTokens = map[string]string{unknown: harness.NewToken()}
	g.startAll(t)
	g.refuse(t, "token", unknown)
	g.audited(t, "unknown_service")
}

// A second agent cannot take over the backends of one that is alive, even with the right token.
func TestTrust_BackendOfALiveAgentCannotBeTakenOver(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Backends[0].Address = g.backends[0].At.Addr()
	g.startAll(t)
	g.refuse(t, "another agent")
	g.audited(t, "conflicting_claim")
	if id := g.status(t, g.nodes[0], g.backends[0], time.Second, func(v api.Backend) error { return wantStatus(v, api.EffectiveHealthy, true) }).AgentID; id != g.agents[0].Name {
		t.Errorf("the backend is now reported by %q", id)
	}
}

// A new certificate under a known agent id is refused until an operator deletes the pin, and then it is pinned.
func TestTrust_ChangedCertificateIsRefusedUntilThePinIsDeleted(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 2)
	n, agent, b := s.nodes[0], s.agents[0], s.backends[0]
	before := s.pins(t, n)[agent.Name]
	if _, err := agent.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent.crt", "agent.key"} {
		if err := os.Remove(filepath.Join(agent.File.DataDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	start(t, agent)
	until(t, refusalBound, "the agent to say why it is refused", func(context.Context) error {
		return said(agent.Unit, "pin")
	})
	if now := s.pins(t, n)[agent.Name]; now != before {
		t.Fatalf("the pin was replaced silently: %s, before it was %s", now, before)
	}

	if _, err := n.Client.Unpin(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	s.status(t, n, b, reconnectBound, func(v api.Backend) error { return wantStatus(v, api.EffectiveHealthy, true) })
	if now := s.pins(t, n)[agent.Name]; now == before {
		t.Error("the old pin is still there")
	}
	s.noFailures(t, n, s.began)
}

// Revoking takes an agent's backends out of the answers at once, and a restart of either side changes nothing.
func TestTrust_RevokedAgentLeavesAtOnceAndStaysOut(t *testing.T) {
	t.Parallel()
	s := startSite(t, 1, 2)
	n, agent, b := s.nodes[0], s.agents[0], s.backends[0]
	revoked := time.Now()
	if _, err := n.Client.Revoke(t.Context(), agent.Name, api.RevokeRequest{Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	s.gone(t, n, b.At.Addr(), revoked, time.Second)
	s.noFailures(t, n, s.began)

	if _, err := n.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := agent.Stop(); err != nil {
		t.Fatal(err)
	}
	start(t, n)
	start(t, agent)
	s.ready(t, n)
	back := time.Now()
	until(t, refusalBound, "the agent to say that it is revoked", func(context.Context) error {
		return said(agent.Unit, "revoked")
	})
	s.status(t, n, s.backends[1], reconnectBound, func(v api.Backend) error {
		if v.AgentLastSeen == nil || v.AgentLastSeen.Before(back) {
			return errors.New("not heard yet")
		}
		return nil
	})
	if first := s.watch.FirstWith(n, appName, b.At.Addr(), back); !first.IsZero() {
		t.Error("a revoked agent's backend is answered after a restart")
	}
}
