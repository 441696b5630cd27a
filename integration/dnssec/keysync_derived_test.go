package dnssec_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
)

// With a single service, its agent knows all input of the derived secret. The agent receives no key. The node reports
// this and continues to serve.
func TestKeySync_WithOneServiceAnAgentGetsNoKey(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 1)
	n := s.Nodes[0]
	delete(n.File.Overwatch.AgentTokens, testbed.OtherName)
	n.File.Overwatch.DNSSEC.KeySync = &harness.KeySync{
		Peers: []string{"http://192.0.2.1:8080"}, PollInterval: testbed.SyncPoll,
		Timeout: n.File.Overwatch.Validation.CheckTimeout,
	}
	s.StartAll(t)
	if status, sealed := testbed.AskForKeys(t, n,
		testbed.DerivedSecret(t, s.GossipKey, n.File.Overwatch.AgentTokens)); status != http.StatusUnauthorized ||
		sealed != "" {
		t.Errorf("the holder of the only token is answered %d and given %d octets of sealed keys", status, len(sealed))
	}
	status, err := n.Client.DNSSECStatus(t.Context())
	if err != nil || status.Sync.OffReason == nil || len(status.Keys) == 0 ||
		testbed.Metric(t, n, "gslb_dnssec_sync_off") != 1 {
		t.Errorf("the node does not say that it exchanges no keys: %+v, %v", status.Sync, err)
	}
	ds, err := n.Client.DSRecords(t.Context())
	if err != nil || ds.Warning == nil || len(ds.DSRecords) == 0 {
		t.Errorf("nothing warns of publishing a record of one node: %+v, %v", ds, err)
	}
	if text := testbed.Scrape(t, n.Prom.String()); !strings.Contains(text, `gslb_overwatch_status{status="degraded"} 1`) {
		t.Error("the node is not degraded")
	}
}

// With two services, the derived secret is used until an agent has proved both tokens, and never again, even after
// its pin is deleted.
func TestKeySync_AnAgentThatProvesAllServicesEndsTheExchange(t *testing.T) {
	t.Parallel()
	s := testbed.StartSite(t, 1, 1)
	n := s.Nodes[0]
	secret := testbed.DerivedSecret(t, s.GossipKey, n.File.Overwatch.AgentTokens)
	if status, sealed := testbed.AskForKeys(t, n, secret); status != http.StatusOK || sealed == "" {
		t.Fatalf("another node is answered %d", status)
	}
	all := s.JoinAgent(t, "agent-all", s.Backends[0])
	second := all.File.Agent.Backends[0]
	second.Service = testbed.OtherName
	all.File.Agent.Backends = append(all.File.Agent.Backends, second)
	all.File.Agent.Identity.ServiceTokens = maps.Clone(n.File.Overwatch.AgentTokens)
	testbed.Start(t, all)
	refused := func(when string) {
		t.Helper()
		testbed.Until(t, testbed.StartBound, "no key to be given "+when, func(context.Context) error {
			if _, sealed := testbed.AskForKeys(t, n, secret); sealed != "" {
				return errors.New("it is given")
			}
			return nil
		})
	}
	refused("once an agent has proved both services")
	testbed.Stop(t, all)
	if _, err := n.Client.Unpin(t.Context(), "agent-all"); err != nil {
		t.Fatal(err)
	}
	testbed.Stop(t, n)
	s.StartNodes(t, n)
	refused("after its pin was deleted and the node started again")
}
