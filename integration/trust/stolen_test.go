package trust_test

import (
	"testing"
	"time"

	"gslb.internal/integration/harness/agent"
	"gslb.internal/integration/harness/fleet"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// A node receives the messages of an attacker who has the gossip key and no service token, and changes nothing: neither
// by enrolments, nor by reports about the attacker's or other backends.
//
// Fault 5.
func TestTrust_StolenGossipKeyAloneChangesNoAnswer(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 2)
	n := s.Nodes[0]
	thief, err := fleet.New(t.TempDir(), 1, fleet.Cipher(t, s.GossipKey), n.Gossip, testbed.AppName,
		"a token that he guessed, of some length", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { thief.Close() })
	if err := thief.Hello(); err != nil {
		t.Fatal("the key opens the gossip itself:", err)
	}
	his := thief.Backends[0].Address
	for _, b := range s.Backends {
		thief.Backends = append(thief.Backends, wire.Backend{Service: testbed.AppName, Address: b.At.Addr(),
			Port: b.At.Port(), Weight: 1,
			Claim: wire.ClaimUnhealthy, Check: thief.Backends[0].Check})
	}
	begin := time.Now()
	enrol := func() error { return thief.Enrol(false, agent.AckTime) }
	for name, message := range map[string]func() error{"enrolment": enrol, "heartbeat": thief.Beat} {
		if err := message(); err == nil {
			t.Errorf("his %s was acknowledged", name)
		}
	}
	for _, b := range s.Backends {
		s.Status(t, n, b, s.Timing.Detection(), testbed.WantSound)
		s.Answered(t, n, b.At.Addr(), begin, s.Timing.Detection())
	}
	if at := s.Watch.FirstWith(n, testbed.AppName, his, begin); !at.IsZero() {
		t.Error("his backend was answered")
	}
	s.NoFailures(t, n, s.Began)
	list, err := n.Client.Backends(t.Context(), api.BackendFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Backends) != len(s.Backends) {
		t.Errorf("the node knows %d backends, want the %d of before", len(list.Backends), len(s.Backends))
	}
	for _, code := range []string{"wrong_token", "unknown_key"} {
		testbed.Counts(t, n, "his messages as "+code, `gslb_gossip_refused_total{code="`+code+`"}`)
	}
}
