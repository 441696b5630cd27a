package trust

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/store"
)

// ApplyPeerChange activates the stored state of an agent after an operator of another node revoked, reissued or
// unpinned it. at is the time of the change. lost reports whether the agent has lost its pin.
func (t *Trust) ApplyPeerChange(agentID string, at time.Time) (lost bool, err error) {
	defer t.lockAgent(agentID)()
	pin, found, err := t.pins.LoadPin(agentID)
	if err != nil {
		return false, err
	}
	p := t.findAgent(agentID)
	switch {
	case found && pin.Revoked:
		t.applyPeerRevocation(p, pin)
	case found && !pin.Refused():
		return false, nil // pinned later
	default:
		if p != nil {
			t.dropPin(p, at)
		}
		t.mu.Lock()
		delete(t.replaced, agentID)
		if found {
			t.replaced[agentID] = pin.Superseded
		}
		t.mu.Unlock()
	}
	t.answers.deleteLogged(agentID)
	t.log.Warn().Str("agent_id", agentID).Bool("revoked", pin.Revoked).Msg(
		"an operator of another node revoked or unpinned the agent")
	return p != nil, nil
}

// applyPeerRevocation activates a stored revocation. p is the current pin of the agent, or nil. The caller has locked
// the agent.
func (t *Trust) applyPeerRevocation(p *pinned, pin store.Pin) {
	next := t.restorePin(pin)
	if p != nil && p.certificate.KeyID == next.certificate.KeyID {
		t.uncountPin(p)
		t.applyPin(p, pin)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p != nil {
		t.removePin(p)
	}
	t.addPin(next)
}

// ApplyPeerLock activates the stored lock of a service, or its removal, after a change by another node.
func (t *Trust) ApplyPeerLock(service string) error {
	stored, err := t.pins.LoadLocks()
	if err != nil {
		return fmt.Errorf("loading locked tokens: %w", err)
	}
	var lifted []string
	defer func() { t.storeLifted(lifted) }()
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
