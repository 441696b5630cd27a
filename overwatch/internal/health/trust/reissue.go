package trust

import (
	"context"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
)

// Reissue deletes an agent's pin, also that of a revoked agent, and refuses its certificate: the next other certificate
// that enrols under the id is pinned. Until then the old one stays refused, also after a restart of either side. On an
// error nothing has changed.
func (t *Trust) Reissue(ctx context.Context, agentID string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lock(agentID)()
	p := t.holder(agentID)
	if p == nil {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	key := p.certificate.KeyID
	if err := t.pins.PutPin(store.Pin{AgentID: agentID, Superseded: key}, with...); err != nil {
		return fmt.Errorf("storing that %s needs another certificate: %w", agentID, err)
	}
	t.drop(p, time.Time{})
	t.mu.Lock()
	t.replaced[agentID] = key
	t.mu.Unlock()
	t.answers.forget(agentID)
	t.log.Info().Str("agent_id", agentID).Str("fingerprint",
		key.Fingerprint()).Msg("pin deleted: the agent needs another certificate")
	return nil
}

// endReissue deletes the memory of a certificate that Reissue has refused, so that it may enrol again. The caller holds
// the agent's lock.
func (t *Trust) endReissue(agentID string, with []store.Entry) error {
	t.mu.RLock()
	_, replaced := t.replaced[agentID]
	t.mu.RUnlock()
	if !replaced {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	if err := t.pins.DeletePin(agentID, with...); err != nil {
		return fmt.Errorf("deleting what is left of the pin of %s: %w", agentID, err)
	}
	t.mu.Lock()
	delete(t.replaced, agentID)
	t.mu.Unlock()
	return nil
}

// superseded reports whether Reissue has refused the certificate for the agent.
func (t *Trust) superseded(agentID string, key identity.KeyID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	old, replaced := t.replaced[agentID]
	return replaced && old == key
}

const supersededDetail = "an operator asked for another certificate (reissue): stop the agent, --reset-identity, " +
	"start it"
