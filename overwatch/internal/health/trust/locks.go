package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/identity"
)

// ErrNotLocked is the error for a service without a locked token.
var ErrNotLocked = errors.New("no token of that service is locked")

// Lock is a service with tokens that admit no new agents.
type Lock struct {
	store.TokenLock
	Closed bool // the token of agent_tokens is locked, so that no new agent can enroll
}

// tokenName identifies a token of a service in a lock: the token mark of the zero key id. It does not reveal the token.
func tokenName(token, service string) [16]byte {
	return identity.TokenMark(token, service, identity.KeyID{})
}

// lockTokens returns locks of all current tokens of the services, without a change of state. The caller holds mu for
// reading.
func (t *Trust) lockTokens(services []string, agentID, reason string) (locks []store.TokenLock) {
	now, _ := t.clock.readTime()
	for _, service := range services {
		if len(t.tokens[service]) == 0 {
			continue
		}
		l := store.TokenLock{Service: service, AgentID: agentID, Reason: reason, At: api.Moment(now)}
		l.Tokens = slices.Clone(t.locks[service].Tokens)
		for _, token := range t.tokens[service] {
			if name := tokenName(token, service); !slices.Contains(l.Tokens, name) {
				l.Tokens = append(l.Tokens, name)
			}
		}
		locks = append(locks, l)
	}
	return locks
}

// RevokeAndLock revokes an agent and locks the current tokens of its services, which admit no new agents until the
// tokens are changed. It returns the locked services.
func (t *Trust) RevokeAndLock(ctx context.Context, agentID, reason string, with ...store.Entry) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer t.lockAgent(agentID)()
	p := t.findAgent(agentID)
	if p == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	services := servicesOf(p.storedPin())
	t.mu.Lock()
	locks := t.lockTokens(services, agentID, reason)
	for _, l := range locks {
		t.locks[l.Service] = l
	}
	t.mu.Unlock()
	pin := t.revoke(p, reason)
	names := make([]string, len(locks))
	for i, l := range locks {
		names[i] = l.Service
		t.log.Warn().Str("service", l.Service).Str("agent_id",
			agentID).Msg("service token locked: it admits no new agents until it is changed")
	}
	if err := t.pins.ChangePins(store.PinChange{Put: []store.Pin{pin}, Lock: locks}, with...); err != nil {
		return names,
			fmt.Errorf("%s is revoked and its services are locked until this node restarts; storing both failed: %w", agentID,
				err)
	}
	return names, nil
}

// Unlock removes the lock of a service, so that its tokens admit new agents. It returns ErrNotLocked for a service
// without a lock.
func (t *Trust) Unlock(ctx context.Context, service string, with ...store.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.RLock()
	lock, locked := t.locks[service]
	t.mu.RUnlock()
	if !locked {
		return fmt.Errorf("%w: %s", ErrNotLocked, service)
	}
	if err := t.pins.ChangePins(store.PinChange{Unlock: []string{service}}, with...); err != nil {
		return fmt.Errorf("unlocking %s: %w", service, err)
	}
	t.mu.Lock()
	if now := t.locks[service]; now.AgentID == lock.AgentID && now.At.Equal(lock.At) { // otherwise there is a newer lock
		delete(t.locks, service)
	}
	t.mu.Unlock()
	t.storeLocks(service)
	t.log.Warn().Str("service", service).Msg("service token unlocked: it admits new agents again")
	return nil
}

// Locks returns the services with locked tokens, ordered by name.
func (t *Trust) Locks() []Lock {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]Lock, 0, len(t.locks))
	for service, l := range t.locks {
		list = append(list, Lock{TokenLock: l, Closed: t.isClosed(service)})
	}
	slices.SortFunc(list, func(a, b Lock) int { return strings.Compare(a.Service, b.Service) })
	return list
}

// Services returns the sorted services for which the agent has proved a token. Its machine may have these tokens.
func (t *Trust) Services(agentID string) []string {
	p := t.findAgent(agentID)
	if p == nil {
		return nil
	}
	return servicesOf(p.storedPin())
}

func servicesOf(pin store.Pin) []string {
	names := make([]string, len(pin.Services))
	for i, s := range pin.Services {
		names[i] = s.Name
	}
	slices.Sort(names)
	return names
}

// loadLocks restores the locks, except for services with changed tokens.
func (t *Trust) loadLocks() error {
	stored, err := t.pins.LoadLocks()
	if err != nil {
		return fmt.Errorf("loading locked tokens: %w", err)
	}
	t.locks = make(map[string]store.TokenLock, len(stored))
	for _, l := range stored {
		t.locks[l.Service] = l
	}
	t.storeLifted(t.liftLocks())
	return nil
}

// liftLocks removes the locks of services without a locked token among their tokens, and returns these services for
// storeLifted. The caller holds mu, or is New.
func (t *Trust) liftLocks() (lifted []string) {
	for service, l := range t.locks {
		tokens := t.tokens[service]
		if len(tokens) > 0 && !slices.ContainsFunc(tokens,
			func(token string) bool { return slices.Contains(l.Tokens, tokenName(token, service)) }) {
			lifted = append(lifted, service)
		}
	}
	for _, service := range lifted {
		delete(t.locks, service)
		t.log.Info().Str("service", service).Msg("service token changed: the lock is lifted")
	}
	return lifted
}

// storeLifted stores that locks were lifted. The caller must not hold mu, since the disk may block.
func (t *Trust) storeLifted(lifted []string) {
	if len(lifted) == 0 {
		return
	}
	if err := t.pins.ChangePins(store.PinChange{Unlock: lifted, Alone: true}); err != nil {
		t.log.Error().Err(err).Strs("services", lifted).Msg(
			"storing lifted locks failed; the next start lifts them")
		return
	}
	t.storeLocks(lifted...)
}

// storeLocks stores the current locks of services, which may have been set while the node stored their removal. The
// caller must not hold mu.
func (t *Trust) storeLocks(services ...string) {
	var again []store.TokenLock
	t.mu.RLock()
	for _, service := range services {
		if l, locked := t.locks[service]; locked {
			again = append(again, l)
		}
	}
	t.mu.RUnlock()
	if len(again) == 0 {
		return
	}
	if err := t.pins.ChangePins(store.PinChange{Lock: again}); err != nil {
		t.log.Error().Err(err).Strs("services",
			services).Msg("storing locks failed; they are active until this node restarts")
	}
}

// isClosed reports whether the token of agent_tokens is locked. The caller holds mu for reading.
func (t *Trust) isClosed(service string) bool {
	tokens := t.tokens[service]
	return len(tokens) > 0 && slices.Contains(t.locks[service].Tokens, tokenName(tokens[0], service))
}

// isLockedMark reports whether the agent proved the service with a locked token. The caller holds mu for reading.
func (t *Trust) isLockedMark(p store.PinnedService, key identity.KeyID) bool {
	l, locked := t.locks[p.Name]
	return locked && slices.ContainsFunc(t.tokens[p.Name], func(token string) bool {
		return identity.TokenMark(token, p.Name, key) == p.TokenMark && slices.Contains(l.Tokens, tokenName(token, p.Name))
	})
}

func lockedDetail(service string) string {
	return fmt.Sprintf(
		"the token of %s is locked after a compromise; configure the new token in the agent, or unlock the service "+
			"(gslbctl agents unlock %s)",
		service, service)
}
