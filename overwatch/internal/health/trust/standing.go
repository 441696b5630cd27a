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

// pinned is one pinned agent. Its id and certificate never change: another certificate makes another pinned.
type pinned struct {
	id          string
	certificate *identity.Certificate
	standing    atomic.Pointer[standing]         // replaced, never edited
	session     atomic.Pointer[identity.Session] // with the agent's process that enrolled last; nil: it signs everything

	since  time.Duration // when it was pinned, or loaded
	silent atomic.Bool   // no heartbeat or transition of it has been believed since it was pinned
	host   netip.Prefix  // where its last Enrol came from; Trust.mu

	mu        sync.Mutex
	window    identity.Window // of this process; mu
	processes processes       // mu
	pin       store.Pin       // mu; its slices are never edited
	// answered and versioned are the times of the last Reject to it: versioned of one that tells of another
	// version, answered of any other; mu.
	answered, versioned time.Duration
}

// standing is an agent's present rights.
type standing struct {
	region   string
	revoked  bool
	outdated bool    // speaks for a service by a token of previous_agent_tokens
	grants   []grant // ordered by service; empty when revoked or unpinned
	host     *Host   // set where there are grants
}

// grant is a service that the agent speaks for.
type grant struct {
	service string
	allowed []netip.Prefix // where its backends may be; empty: anywhere
}

func (g grant) equal(other grant) bool {
	return g.service == other.service && slices.Equal(g.allowed, other.allowed)
}

func (s *standing) grant(service string) *grant {
	for i := range s.grants { // at most 16
		if s.grants[i].service == service {
			return &s.grants[i]
		}
	}
	return nil
}

// stand returns the rights of a pin's holder: it speaks for the services of which it has proved a token that is valid
// now. The caller holds mu for reading, or is New.
func (t *Trust) stand(key identity.KeyID, pin store.Pin) *standing {
	s := &standing{region: pin.Region, revoked: pin.Revoked, host: &t.host}
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

// newer reports whether a message is newer than those taken from the agent.
func (p *pinned) newer(epoch, seq uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.Newer(epoch, seq)
}

// accept is Window.Accept, for a message with a valid signature.
func (p *pinned) accept(m *identity.Sealed, elapsed time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.window
	if !p.window.Accept(m.Epoch, m.Seq) {
		return false
	}
	p.processes.accepted(before, m.Epoch, wire.Type(m.Type), elapsed)
	return true
}

// stored returns the pin.
func (p *pinned) stored() store.Pin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pin
}
