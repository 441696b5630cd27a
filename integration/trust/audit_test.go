package trust_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// An attacker with only the gossip key who tries sixty names with a wrong token does not prevent the audit entry of
// another agent's refusal.
func TestAudit_AFloodOfRefusalsHidesNoOther(t *testing.T) {
	s := newStand(t)
	s.start(t)
	right := s.Tokens[evilName]
	s.Tokens[evilName] = harness.NewToken()
	thief := s.agent(t, "thief-0", evilName)
	for i := range 60 {
		a := thief
		if i > 0 {
			a = s.agentAt(t, fmt.Sprintf("thief-%d", i), thief.Source, evilName)
		}
		isRefused(t, a)
		a.Close()
	}
	victim := s.agent(t, "mistaken", evilName)
	isRefused(t, victim)
	query := url.Values{"actions": {"refused"}, "resources": {"agent"}, "status": {api.AuditFailure}, "limit": {"500"}}
	until(t, "the refusal to be in the audit log", func(ctx context.Context) error {
		list, err := s.node.Client.AuditLog(ctx, query)
		if err != nil {
			return err
		}
		for _, e := range list.Entries {
			if e.ResourceID == victim.Name {
				return nil
			}
		}
		return fmt.Errorf("%d entries, none of them about %s", len(list.Entries), victim.Name)
	})
	s.control(t, "audit", "verify")
	s.Tokens[evilName] = right
	s.pinned(t, "mistaken-no-more", evilName)
}
