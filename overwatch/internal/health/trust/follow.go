package trust

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// Follow puts the stored state of an agent into force, after an operator of another node has revoked it, reissued its
// certificate or deleted its pin, at the time at. lost reports that the agent no longer has the pin that it had.
func (t *Trust) Follow(agentID string, at time.Time) (lost bool, err error) {
	defer t.lock(agentID)()
	pin, found, err := t.pins.LoadPin(agentID)
	if err != nil {
		return false, err
	}
	p := t.holder(agentID)
	switch {
	case found && pin.Revoked:
		t.followRevoked(p, pin)
	case found && !pin.Refused():
		return false, nil // pinned after that
	default:
		if p != nil {
			t.drop(p, at)
		}
		t.mu.Lock()
		delete(t.replaced, agentID)
		if found {
			t.replaced[agentID] = pin.Superseded
		}
		t.mu.Unlock()
	}
	t.answers.forget(agentID)
	t.log.Warn().Str("agent_id", agentID).Bool("revoked", pin.Revoked).Msg(
		"an operator of another node revoked the agent, or deleted its pin")
	return p != nil, nil
}

// followRevoked makes a stored revocation effective. p is the agent's present pin; nil: none. The caller holds the
// agent's lock.
func (t *Trust) followRevoked(p *pinned, pin store.Pin) {
	next := t.restore(pin)
	if p != nil && p.certificate.KeyID == next.certificate.KeyID {
		t.uncountPin(p)
		t.settle(p, pin)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p != nil {
		t.forget(p)
	}
	t.add(next)
}

// FollowLock puts into force whether a service is locked, as the store has it since another node's operator decided.
func (t *Trust) FollowLock(service string) error {
	stored, err := t.pins.LoadLocks()
	if err != nil {
		return fmt.Errorf("loading locked tokens: %w", err)
	}
	var lifted []string
	defer func() { t.keepLifted(lifted) }()
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.locks, service)
	for _, l := range stored {
		if l.Service == service {
			t.locks[service] = l
		}
	}
	lifted = t.liftLocks()
	return nil
}
