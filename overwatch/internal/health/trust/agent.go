package trust

import (
	"net/netip"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Agent is an agent whose message was authenticated. Only this package makes one; the zero Agent speaks for nothing.
//
// Its rights are looked up at each call, not when the message came. An Agent that is revoked or unpinned meanwhile
// speaks for nothing from that moment on, also while its message waits in a queue.
type Agent struct {
	pinned  *pinned
	address netip.Addr
}

// HeardAt returns a copy of the agent whose Address is the given one. The caller has proof that the message came from
// there.
func (a Agent) HeardAt(address netip.Addr) Agent {
	a.address = address.Unmap()
	return a
}

// Address is the source of the agent's message, if that is proved; else it is not valid.
func (a Agent) Address() netip.Addr { return a.address }

// ID returns the agent's id.
func (a Agent) ID() string {
	if a.pinned == nil {
		return ""
	}
	return a.pinned.id
}

// KeyID returns the id of the agent's certificate.
func (a Agent) KeyID() identity.KeyID {
	if a.pinned == nil {
		return identity.KeyID{}
	}
	return a.pinned.certificate.KeyID
}

// Region returns the region that the agent gave when it enrolled.
func (a Agent) Region() string { return a.standing().region }

// Services returns the services that the agent may speak for now, in alphabetical order. The caller owns the slice.
func (a Agent) Services() []string {
	grants := a.standing().grants
	names := make([]string, len(grants))
	for i := range grants {
		names[i] = grants[i].service
	}
	return names
}

// Speaks reports whether the agent may speak for a service, named in canonical form.
func (a Agent) Speaks(service string) bool { return a.standing().grant(service) != nil }

// Allowed reports whether the agent may claim a backend of the service at an address and port: it must speak for the
// service, and Forbids must return 0.
func (a Agent) Allowed(service string, at netip.AddrPort) bool {
	return a.Speaks(service) && a.Forbids(service, at) == 0
}

// Forbids returns the rule by which no agent of the service may claim a backend at an address and port; 0: there is
// none, or the agent does not speak for the service.
func (a Agent) Forbids(service string, at netip.AddrPort) wire.Rule {
	s := a.standing()
	g := s.grant(service)
	if g == nil {
		return 0
	}
	return s.host.judge(at, g.allowed)
}

var nothing standing

func (a Agent) standing() *standing {
	if a.pinned == nil {
		return &nothing
	}
	return a.pinned.standing.Load()
}
