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

// ErrNotLocked is returned for a service of which no token is locked.
var ErrNotLocked = errors.New("no token of that service is locked")

// Lock is a service of which tokens admit no new agents.
type Lock struct {
	store.TokenLock
	Closed bool // the token of agent_tokens is locked, so that no new agent comes in at all
}

// tokenName identifies a token of a service in a lock. It is the mark for no certificate, and does not reveal the
// token.
func tokenName(token, service string) [16]byte {
	return identity.TokenMark(token, service, identity.KeyID{})
}

// lockTokens returns locks of every token that the named services have now, for the store; it changes nothing itself.
// The caller holds mu for reading.
func (t *Trust) lockTokens(services []string, agentID, reason string) (locks []store.TokenLock) {
	now, _ := t.clock.now()
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

// RevokeAndLock is Revoke, and locks the tokens that the agent's services have now: they admit no new agents until they
// are changed. It returns the services that are locked.
func (t *Trust) RevokeAndLock(ctx context.Context, agentID, reason string, with ...store.Entry) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer t.lock(agentID)()
	p := t.holder(agentID)
	if p == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotPinned, agentID)
	}
	services := known(p.stored())
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
			fmt.Errorf("%s is revoked and its services are locked, but only until this node restarts: storing it: %w", agentID,
				err)
	}
	return names, nil
}

// Unlock removes the lock of a service: its tokens admit new agents again. It wraps ErrNotLocked if there is none.
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
	if now := t.locks[service]; now.AgentID == lock.AgentID && now.At.Equal(lock.At) { // else it was locked again
		delete(t.locks, service)
	}
	t.mu.Unlock()
	t.keepAgain(service)
	t.log.Warn().Str("service", service).Msg("service token unlocked: it admits new agents again")
	return nil
}

// Locks returns the services of which tokens are locked, ordered by name.
func (t *Trust) Locks() []Lock {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]Lock, 0, len(t.locks))
	for service, l := range t.locks {
		list = append(list, Lock{TokenLock: l, Closed: t.closed(service)})
	}
	slices.SortFunc(list, func(a, b Lock) int { return strings.Compare(a.Service, b.Service) })
	return list
}

// Services returns the services of which the agent has ever proved a token, in order: its machine may know those
// tokens.
func (t *Trust) Services(agentID string) []string {
	p := t.holder(agentID)
	if p == nil {
		return nil
	}
	return known(p.stored())
}

func known(pin store.Pin) []string {
	names := make([]string, len(pin.Services))
	for i, s := range pin.Services {
		names[i] = s.Name
	}
	slices.Sort(names)
	return names
}

// loadLocks restores the locks, but for those whose tokens were changed meanwhile.
func (t *Trust) loadLocks() error {
	stored, err := t.pins.LoadLocks()
	if err != nil {
		return fmt.Errorf("loading locked tokens: %w", err)
	}
	t.locks = make(map[string]store.TokenLock, len(stored))
	for _, l := range stored {
		t.locks[l.Service] = l
	}
	t.keepLifted(t.liftLocks())
	return nil
}

// liftLocks forgets the locks of services that have tokens, none of which is locked, and returns these for keepLifted.
// The caller holds mu, or is New.
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

// keepLifted stores that locks were lifted. The caller does not hold mu, without which no message is opened: the disk
// may hang.
func (t *Trust) keepLifted(lifted []string) {
	if len(lifted) == 0 {
		return
	}
	if err := t.pins.ChangePins(store.PinChange{Unlock: lifted, Alone: true}); err != nil {
		t.log.Error().Err(err).Strs("services", lifted).Msg(
			"lifted locks are still stored: they are lifted again at the next start")
		return
	}
	t.keepAgain(lifted...)
}

// keepAgain stores the locks that services have: they may have been made, and stored, while it was stored that there
// are none. The caller does not hold mu.
func (t *Trust) keepAgain(services ...string) {
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
		t.log.Error().Err(err).Strs("services", services).Msg("locks are not stored: they hold until this node restarts")
	}
}

// closed reports whether the token of agent_tokens is locked. The caller holds mu for reading.
func (t *Trust) closed(service string) bool {
	tokens := t.tokens[service]
	return len(tokens) > 0 && slices.Contains(t.locks[service].Tokens, tokenName(tokens[0], service))
}

// lockedMark reports whether the agent proved the service by a token that is locked. The caller holds mu for reading.
func (t *Trust) lockedMark(p store.PinnedService, key identity.KeyID) bool {
	l, locked := t.locks[p.Name]
	return locked && slices.ContainsFunc(t.tokens[p.Name], func(token string) bool {
		return identity.TokenMark(token, p.Name, key) == p.TokenMark && slices.Contains(l.Tokens, tokenName(token, p.Name))
	})
}

func lockedDetail(service string) string {
	return fmt.Sprintf(
		"the token of %s is locked after a compromise: give the agent the new token, or unlock it (gslbctl agents unlock %s)",
		service, service)
}
