package trust

import (
	"context"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
)

// Reissue deletes the pin of an agent, even of a revoked agent, and rejects its certificate. The next Enrol with
// another certificate pins the other certificate. The node rejects the old certificate even after a restart of the node
// or the agent. After an error, the state is unchanged.
func (t *Trust) Reissue(ctx context.Context, agentID string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lockAgent(agentID)()
	p := t.findAgent(agentID)
	if p == nil {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	key := p.certificate.KeyID
	if err := t.pins.PutPin(store.Pin{AgentID: agentID, Superseded: key}, with...); err != nil {
		return fmt.Errorf("reissue of %s: storing the pin: %w", agentID, err)
	}
	t.dropPin(p, time.Time{})
	t.mu.Lock()
	t.replaced[agentID] = key
	t.mu.Unlock()
	t.answers.deleteLogged(agentID)
	t.log.Info().Str("agent_id", agentID).Str("fingerprint",
		key.Fingerprint()).Msg("pin deleted; the agent needs a new certificate")
	return nil
}

// endReissue removes a certificate that Reissue has rejected, so that the agent can enroll with it. The caller has
// locked the agent.
func (t *Trust) endReissue(agentID string, with []store.Entry) error {
	t.mu.RLock()
	_, replaced := t.replaced[agentID]
	t.mu.RUnlock()
	if !replaced {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	if err := t.pins.DeletePin(agentID, with...); err != nil {
		return fmt.Errorf("deleting the rejected certificate of %s: %w", agentID, err)
	}
	t.mu.Lock()
	delete(t.replaced, agentID)
	t.mu.Unlock()
	return nil
}

// superseded reports whether Reissue has rejected the certificate of the agent.
func (t *Trust) superseded(agentID string, key identity.KeyID) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	old, replaced := t.replaced[agentID]
	return replaced && old == key
}

const supersededDetail = "an operator asked for another certificate (reissue): stop the agent, --reset-identity, " +
	"start it"
