package trust

import (
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// pinned is a pinned agent. Its id and certificate never change.
type pinned struct {
	id          string
	certificate *identity.Certificate
	rights      atomic.Pointer[rights]           // immutable value
	session     atomic.Pointer[identity.Session] // of the agent's last Enrol; nil if it signs all messages

	since        time.Duration // time of the pin, or of the start of the process
	isUnreported atomic.Bool   // no heartbeat or transition since the pin
	host         netip.Prefix  // source of its last Enrol; guarded by Trust.mu

	mu        sync.Mutex
	window    identity.Window // guarded by mu
	processes processes       // guarded by mu
	pin       store.Pin       // guarded by mu; its slices are immutable
	// answered is the time of the last Reject to the agent. versioned is the time of the last Reject for another version.
	// mu guards both.
	answered, versioned time.Duration
}

// rights are the current rights of an agent. The value is immutable.
type rights struct {
	region   string
	revoked  bool
	outdated bool    // a token of previous_agent_tokens proved a service
	grants   []grant // ordered by service; empty for a revoked or unpinned agent
	host     *Host   // set if there are grants
}

// grant is a service that the agent may report.
type grant struct {
	service string
	allowed []netip.Prefix // networks of its backends; empty: no restriction
}

func (g grant) equal(other grant) bool {
	return g.service == other.service && slices.Equal(g.allowed, other.allowed)
}

func (s *rights) grant(service string) *grant {
	for i := range s.grants { // at most 16
		if s.grants[i].service == service {
			return &s.grants[i]
		}
	}
	return nil
}

// rightsOf returns the rights of a pin: the services with a proof by a current token. The caller holds mu for reading,
// or is New.
func (t *Trust) rightsOf(key identity.KeyID, pin store.Pin) *rights {
	s := &rights{region: pin.Region, revoked: pin.Revoked, host: &t.host}
	if pin.Revoked {
		return s
	}
	for _, proved := range pin.Services {
		at := slices.IndexFunc(t.tokens[proved.Name], func(token string) bool {
			return identity.TokenMark(token, proved.Name, key) == proved.TokenMark
		})
		if at >= 0 {
			s.outdated = s.outdated || at > 0
			s.grants = append(s.grants, grant{service: proved.Name, allowed: t.policies[proved.Name]})
		}
	}
	slices.SortFunc(s.grants, func(a, b grant) int { return strings.Compare(a.service, b.service) })
	return s
}

// isNewer reports whether a message is newer than all accepted messages of the agent.
func (p *pinned) isNewer(epoch, seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.Newer(epoch, seq)
}

// acceptSequence advances the window to a message with a valid signature. It returns false for a replayed message.
func (p *pinned) acceptSequence(m *identity.Sealed, elapsed time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.window
	if !p.window.Accept(m.Epoch, m.Seq) {
		return false
	}
	p.processes.recordAccepted(before, m.Epoch, wire.Type(m.Type), elapsed)
	return true
}

// storedPin returns the pin.
func (p *pinned) storedPin() store.Pin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pin
}
