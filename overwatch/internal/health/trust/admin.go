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

// ErrNotPinned is returned for an agent id that has no pin.
var ErrNotPinned = errors.New("no agent of that id is pinned")

// Unpin deletes an agent's pin, also that of a revoked agent, or the memory of the certificate that Reissue refused.
// From then on its messages are refused, and another certificate may enrol under the id. The process that has the old
// certificate may not; one that is started later may. When Unpin returns nil, the deletion and the entries are on disk;
// on an error nothing has changed.
func (t *Trust) Unpin(ctx context.Context, agentID string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lock(agentID)()
	p := t.holder(agentID)
	if p == nil {
		return t.endReissue(agentID, with)
	}
	if err := t.pins.DeletePin(agentID, with...); err != nil {
		return fmt.Errorf("deleting the pin of %s: %w", agentID, err)
	}
	t.drop(p, time.Time{})
	t.answers.forget(agentID)
	t.log.Info().Str("agent_id", agentID).Str("fingerprint", p.certificate.KeyID.Fingerprint()).Msg("pin deleted")
	return nil
}

func (t *Trust) holder(agentID string) *pinned {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[agentID]
}

// drop forgets a pinned agent, and remembers its process, which may not enrol again. A process that was started later
// may; unless at is zero, so may one that was started after at.
func (t *Trust) drop(p *pinned, at time.Time) {
	t.troubles.end(p.id, identity.KeyID{})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p)
	p.mu.Lock()
	epoch := p.window.Epoch()
	p.mu.Unlock()
	if !at.IsZero() {
		epoch = min(epoch, uint64(at.UnixMilli()))
	}
	t.left.add(departure{id: p.id, key: p.certificate.KeyID, pub: p.certificate.PublicKey, epoch: epoch})
}

// forget removes a pinned agent from memory. Of its process it remembers only the window. The caller holds mu.
func (t *Trust) forget(p *pinned) {
	p.mu.Lock()
	t.windows.keep(p.certificate.KeyID, p.window)
	p.mu.Unlock()
	delete(t.byID, p.id)
	if at, found := t.place(p.id); found {
		t.ordered = slices.Delete(t.ordered, at, at+1)
	}
	delete(t.byKey, p.certificate.KeyID)
	key := string(p.certificate.PublicKey)
	if left := slices.DeleteFunc(t.revoked[key], func(id string) bool { return id == p.id }); len(left) > 0 {
		t.revoked[key] = left
	} else {
		delete(t.revoked, key)
	}
	p.standing.Store(&standing{})
	t.countPin(p, -1)
}

// Revoke refuses an agent from now on, until its pin is deleted. It is in effect even when it could not be
// stored; the error then says that it will not outlast this process. Revoking twice keeps the first time and reason.
func (t *Trust) Revoke(ctx context.Context, agentID, reason string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer t.lock(agentID)()
	p := t.holder(agentID)
	if p == nil {
		return fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	if err := t.pins.PutPin(t.revoke(p, reason), with...); err != nil {
		return fmt.Errorf("%s is revoked, but only until this node restarts: storing it: %w", agentID, err)
	}
	return nil
}

// revoke makes a revocation effective and returns the pin to store. The caller holds the agent's lock.
func (t *Trust) revoke(p *pinned, reason string) store.Pin {
	pin := p.stored()
	if pin.Revoked {
		return pin
	}
	now, _ := t.clock.now()
	t.uncountPin(p)
	pin.Revoked, pin.RevokedAt, pin.RevokedReason = true, api.Moment(now), reason
	t.settle(p, pin)
	t.log.Warn().Str("agent_id", p.id).Str("fingerprint", p.certificate.KeyID.Fingerprint()).Str("reason",
		reason).Msg("agent revoked")
	return pin
}

// SetTokens replaces tokens and policies, as New got them, and returns the ids of the agents that may claim other
// backends than before, in order. An agent no longer speaks for a service of which the token that it proved is not
// there any more; it gets it back by proving one that is.
func (t *Trust) SetTokens(tokens map[string][]string, policies map[string][]netip.Prefix) (changed []string) {
	defer t.tellHolders()
	var lifted []string
	defer func() { t.keepLifted(lifted) }()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens, t.policies, t.current = usableTokens(tokens), canonical(policies), currentOf(tokens)
	lifted = t.liftLocks()
	for id, p := range t.byID {
		former, before := p.standing.Load(), Agent{pinned: p}.Services()
		next := t.stand(p.certificate.KeyID, p.stored())
		p.standing.Store(next)
		if !slices.EqualFunc(former.grants, next.grants, grant.equal) {
			changed = append(changed, id)
		}
		if after := (Agent{pinned: p}).Services(); !slices.Equal(before, after) {
			t.log.Info().Str("agent_id", id).Strs("before", before).Strs("services",
				after).Msg("tokens changed: agent speaks for other services")
		}
	}
	slices.Sort(changed)
	return changed
}
