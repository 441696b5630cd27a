package trust_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// guarded is a site with an untrusted agent.
type guarded struct {
	*testbed.Site
	intruder *harness.Agent
	target   *harness.Backend // that the intruder would bring into the answers
}

// newGuarded prepares a site with one valid agent and an intruder. The test then makes the intruder's configuration
// invalid.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	s := testbed.NewSite(t, 1, 2)
	g := &guarded{Site: s, intruder: s.Agents[1], target: s.Backends[1]}
	s.Agents = s.Agents[:1]
	return g
}

// refuse starts the intruder and checks that the intruder logs the reason of the refusal in a line with all the words,
// that it retries, and that the answers to clients do not change.
func (g *guarded) refuse(t *testing.T, words ...string) {
	t.Helper()
	n := g.Nodes[0]
	testbed.Start(t, g.intruder)
	testbed.Until(t, testbed.RefusalBound, "the agent to say why it is refused", func(context.Context) error {
		return testbed.Said(g.intruder.Unit, words...)
	})
	for range testbed.QuietAnswers {
		g.Answered(t, n, g.Backends[0].At.Addr(), time.Now(), time.Second)
	}
	if first := g.Watch.FirstWith(n, testbed.AppName, g.target.At.Addr(), g.Began); !first.IsZero() {
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
	g.NoFailures(t, n, g.Began)
}

// audited checks that the audit log contains a refused report of the intruder with this code, and that the log
// verifies.
func (g *guarded) audited(t *testing.T, code string) {
	t.Helper()
	n := g.Nodes[0]
	testbed.Until(t, testbed.RefusalBound, "the refusal to be in the audit log", func(ctx context.Context) error {
		list, err := n.Client.AuditLog(ctx, url.Values{"actions": {"refused"}, "resources": {"agent"},
			"status": {api.AuditFailure}})
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
	testbed.Command(t, testbed.Binaries(t).Control, "--api", n.API.String(), "audit", "verify").Want(t, testbed.ExitOK)
}

// Fault 23: An agent has another gossip key than the nodes. The agent reports the key.
func TestTrust_WrongGossipKeyIsNamedOnBothSides(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.intruder.File.Agent.Gossip.EncryptionKey = harness.NewGossipKey()
	g.StartAll(t)
	g.refuse(t, "encryption_key")
	testbed.Counts(t, g.Nodes[0], "what its key does not open", `gslb_gossip_dropped_total{reason="key"}`)
}

// Fault 5: An agent reports backends or services for which it has no token. Nodes reject, count and audit the
// reports, and no answer changes.
func TestTrust_WrongTokenIsRefusedAndNamed(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Identity.ServiceTokens[testbed.AppName] = harness.NewToken()
	g.StartAll(t)
	g.refuse(t, "token", testbed.AppName)
	testbed.Counts(t, g.Nodes[0], "the wrong token", `gslb_gossip_refused_total{code="wrong_token"}`,
		`gslb_gossip_claims_refused_total{code="wrong_token"}`)
	g.audited(t, "wrong_token")
}

// An agent with the token of one service has no effect on another service (I5).
//
// Fault 5.
func TestTrust_AnotherServicesTokenGivesNoSay(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Identity.ServiceTokens[testbed.AppName] = g.Tokens[testbed.OtherName]
	g.StartAll(t)
	g.refuse(t, "token", testbed.AppName)
	g.audited(t, "wrong_token")
}

// The refusal of a service without a token on the nodes contains the name of the service.
//
// Fault 5.
func TestTrust_UnknownServiceIsRefusedAndNamed(t *testing.T) {
	g := newGuarded(t)
	const unknown = "unknown.test.gslb.test"
	g.intruder.File.Agent.Backends[0].Service = unknown
	g.intruder.File.Agent.Identity.ServiceTokens = map[string]string{unknown: harness.NewToken()}
	g.StartAll(t)
	g.refuse(t, "token", unknown)
	g.audited(t, "unknown_service")
}

// A second agent cannot take over the backends of a running agent, even with the correct token.
//
// Fault 5.
func TestTrust_BackendOfALiveAgentCannotBeTakenOver(t *testing.T) {
	g := newGuarded(t)
	g.intruder.File.Agent.Backends[0].Address = g.Backends[0].At.Addr()
	g.StartAll(t)
	g.refuse(t, "another agent")
	g.audited(t, "conflicting_claim")
	if id := g.Status(t, g.Nodes[0], g.Backends[0], time.Second,
		testbed.StatusIs(api.EffectiveHealthy, true)).AgentID; id != g.Agents[0].Name {
		t.Errorf("the backend is now reported by %q", id)
	}
}

// Nodes refuse a new certificate of a known agent id until an operator deletes the pin, and then pin it.
//
// Fault 22: The certificate of an agent expired, or was revoked, unpinned or renewed. The documented procedures let
// the agent return.
func TestTrust_ChangedCertificateIsRefusedUntilThePinIsDeleted(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	before := s.Pins(t, n)[agent.Name]
	testbed.Kill(t, agent)
	for _, name := range []string{"agent.crt", "agent.key"} {
		if err := os.Remove(filepath.Join(agent.File.DataDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	testbed.Start(t, agent)
	testbed.Until(t, testbed.RefusalBound, "the agent to say why it is refused", func(context.Context) error {
		return testbed.Said(agent.Unit, "pin")
	})
	if now := s.Pins(t, n)[agent.Name]; now != before {
		t.Fatalf("the pin was replaced silently: %s, before it was %s", now, before)
	}

	if _, err := n.Client.Unpin(t.Context(), agent.Name); err != nil {
		t.Fatal(err)
	}
	s.Status(t, n, b, testbed.ReconnectBound, testbed.StatusIs(api.EffectiveHealthy, true))
	if now := s.Pins(t, n)[agent.Name]; now == before {
		t.Error("the old pin is still there")
	}
	s.NoFailures(t, n, s.Began)
}

// A revocation removes the backends of an agent from the answers immediately. A restart of the node or agent changes
// nothing.
//
// Fault 22.
func TestTrust_RevokedAgentLeavesAtOnceAndStaysOut(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n, agent, b := s.Nodes[0], s.Agents[0], s.Backends[0]
	revoked := time.Now()
	if _, err := n.Client.Revoke(t.Context(), agent.Name, api.RevokeRequest{Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	s.Gone(t, n, b.At.Addr(), revoked, time.Second)
	s.NoFailures(t, n, s.Began)

	testbed.Kill(t, n)
	testbed.Stop(t, agent)
	testbed.Start(t, n)
	testbed.Start(t, agent)
	s.Ready(t, n)
	back := time.Now()
	testbed.Until(t, testbed.RefusalBound, "the agent to say that it is revoked", func(context.Context) error {
		return testbed.Said(agent.Unit, "revoked")
	})
	s.Status(t, n, s.Backends[1], testbed.ReconnectBound, func(v api.Backend) error {
		if v.AgentLastSeen == nil || v.AgentLastSeen.Before(back) {
			return errors.New("not heard yet")
		}
		return nil
	})
	if first := s.Watch.FirstWith(n, testbed.AppName, b.At.Addr(), back); !first.IsZero() {
		t.Error("a revoked agent's backend is answered after a restart")
	}
}
