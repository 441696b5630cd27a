package trust_test

import (
	"context"
	"net/netip"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/wire"
)

// After an agent was revoked and its services were locked, no agent can enrol with the token under any name, even after
// a restart. Pinned agents continue, and a changed token unlocks the service.
func TestRevoke_ALockedServiceTakesNobodyUntilItsTokenChanges(t *testing.T) {
	s := newStand(t)
	s.start(t)
	evil, honest := s.pinned(t, "evil", evilName), s.pinned(t, "honest", evilName)
	own := []wire.Backend{report(evilName, netip.AddrPortFrom(honest.Source, 1))}
	said := s.control(t, "agents", "revoke", evil.Name, "--reason", "it was stolen", "--lock-service", "--yes")
	if !has(said, evilName, "token") {
		t.Errorf("the command does not say which token is to be changed:\n%s", said)
	}
	again := func(name string) {
		t.Helper()
		isRefused(t, s.agent(t, name, evilName))
	}
	again("evil-2")
	until(t, "a report of the honest agent", func(context.Context) error { return honest.Heartbeat(honestBeat, own) })

	if _, err := s.node.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.node.Start(); err != nil {
		t.Fatal(err)
	}
	s.serves(t)
	again("evil-3")
	until(t, "the honest agent to be known", func(context.Context) error { return honest.Register() })

	s.Tokens[evilName] = harness.NewToken()
	s.node.File.Overwatch.AgentTokens[evilName] = s.Tokens[evilName]
	if err := s.node.WriteFile(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.node.Client.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.pinned(t, "fresh", evilName)
}
