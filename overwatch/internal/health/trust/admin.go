package trust

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// ErrNotPinned is the error for an agent id without a pin.
var ErrNotPinned = errors.New("no agent of that id is pinned")

// Unpin deletes the pin of an agent, even of a revoked agent, or the certificate that Reissue rejected. The node then
// rejects the agent's messages, and the agent may enroll with another certificate. The running process of the agent
// cannot enroll; a later process can. When Unpin returns nil, the change and the entries are on disk. After an error,
// the state is unchanged.
func (t *Trust) Unpin(ctx context.Context, agentID string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lockAgent(agentID)()
	p := t.findAgent(agentID)
	if p == nil {
		return t.endReissue(agentID, with)
	}
	if err := t.pins.DeletePin(agentID, with...); err != nil {
		return fmt.Errorf("deleting the pin of %s: %w", agentID, err)
	}
	t.dropPin(p, time.Time{})
	t.answers.deleteLogged(agentID)
	t.log.Info().Str("agent_id", agentID).Str("fingerprint", p.certificate.KeyID.Fingerprint()).Msg("pin deleted")
	return nil
}

func (t *Trust) findAgent(agentID string) *pinned {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[agentID]
}

// dropPin removes a pinned agent and stores its departure, so that its process cannot enroll. A later process can. If
// at is not zero, a process that started after at can enroll as well.
func (t *Trust) dropPin(p *pinned, at time.Time) {
	t.troubles.remove(p.id, identity.KeyID{})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removePin(p)
	p.mu.Lock()
	epoch := p.window.Epoch()
	p.mu.Unlock()
	if !at.IsZero() {
		epoch = min(epoch, uint64(at.UnixMilli()))
	}
	t.left.addDeparture(departure{id: p.id, key: p.certificate.KeyID, pub: p.certificate.PublicKey, epoch: epoch})
}

// removePin removes a pinned agent from memory and retains its window. The caller holds mu.
func (t *Trust) removePin(p *pinned) {
	p.mu.Lock()
	t.windows.storeWindow(p.certificate.KeyID, p.window)
	p.mu.Unlock()
	delete(t.byID, p.id)
	if at, found := t.indexOf(p.id); found {
		t.ordered = slices.Delete(t.ordered, at, at+1)
	}
	delete(t.byKey, p.certificate.KeyID)
	key := string(p.certificate.PublicKey)
	if left := slices.DeleteFunc(t.revoked[key], func(id string) bool { return id == p.id }); len(left) > 0 {
		t.revoked[key] = left
	} else {
		delete(t.revoked, key)
	}
	p.rights.Store(&rights{})
	t.countPin(p, -1)
}

// Revoke rejects an agent until its pin is deleted. After an error of the store, the revocation is active until this
// node restarts. A second revocation does not change time and reason.
func (t *Trust) Revoke(ctx context.Context, agentID, reason string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lockAgent(agentID)()
	p := t.findAgent(agentID)
	if p == nil {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	if err := t.pins.PutPin(t.revoke(p, reason), with...); err != nil {
		return fmt.Errorf("%s is revoked until this node restarts; storing the revocation failed: %w", agentID, err)
	}
	return nil
}

// revoke activates a revocation and returns the pin to store. The caller has locked the agent.
func (t *Trust) revoke(p *pinned, reason string) store.Pin {
	pin := p.storedPin()
	if pin.Revoked {
		return pin
	}
	now, _ := t.clock.readTime()
	t.uncountPin(p)
	pin.Revoked, pin.RevokedAt, pin.RevokedReason = true, api.Moment(now), reason
	t.applyPin(p, pin)
	t.log.Warn().Str("agent_id", p.id).Str("fingerprint", p.certificate.KeyID.Fingerprint()).Str("reason",
		reason).Msg("agent revoked")
	return pin
}

// SetTokens replaces tokens and policies, in the form of Options. It returns the sorted ids of the agents with changed
// rights. An agent loses a service if its proved token was removed. It regains the service with a proof of a current
// token.
func (t *Trust) SetTokens(tokens map[string][]string, policies map[string][]netip.Prefix) (changed []string) {
	defer t.reportHolders()
	var lifted []string
	defer func() { t.storeLifted(lifted) }()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens, t.policies, t.current = usableTokens(tokens), canonical(policies), currentTokensOf(tokens)
	lifted = t.liftLocks()
	for id, p := range t.byID {
		former, before := p.rights.Load(), Agent{pinned: p}.Services()
		next := t.rightsOf(p.certificate.KeyID, p.storedPin())
		p.rights.Store(next)
		if !slices.EqualFunc(former.grants, next.grants, grant.equal) {
			changed = append(changed, id)
		}
		if after := (Agent{pinned: p}).Services(); !slices.Equal(before, after) {
			t.log.Info().Str("agent_id", id).Strs("before", before).Strs("services",
				after).Msg("tokens changed: agent may report other services")
		}
	}
	slices.Sort(changed)
	return changed
}
