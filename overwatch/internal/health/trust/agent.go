package trust

import (
	"net/netip"

	"gslb.internal/shared/identity"
	"gslb.internal/shared/wire"
)

// Agent is the authenticated sender of a message. Only this package makes an Agent; the zero Agent has no rights.
//
// Each method returns the current rights. Revocation and unpinning remove the rights immediately, even for queued
// messages.
type Agent struct {
	pinned  *pinned
	address netip.Addr
}

// WithAddress returns a copy of the agent with a proved source address.
func (a Agent) WithAddress(address netip.Addr) Agent {
	a.address = address.Unmap()
	return a
}

// Address returns the proved source address of the message, or an invalid address.
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

// Region returns the region that the agent sent with its Enrol.
func (a Agent) Region() string { return a.rights().region }

// Services returns the services for which the agent may report backends, sorted, in a new slice.
func (a Agent) Services() []string {
	grants := a.rights().grants
	names := make([]string, len(grants))
	for i := range grants {
		names[i] = grants[i].service
	}
	return names
}

// MaySpeakFor reports whether the agent may report backends of a service. The name is canonical.
func (a Agent) MaySpeakFor(service string) bool { return a.rights().grant(service) != nil }

// Allowed reports whether the agent may report a backend of the service at an address and port.
func (a Agent) Allowed(service string, at netip.AddrPort) bool {
	return a.MaySpeakFor(service) && a.ForbiddenBy(service, at) == 0
}

// ForbiddenBy returns the rule that forbids a backend of the service at an address and port. It returns 0 if the rules
// allow the backend, or if the agent may not report the service.
func (a Agent) ForbiddenBy(service string, at netip.AddrPort) wire.Rule {
	s := a.rights()
	g := s.grant(service)
	if g == nil {
		return 0
	}
	return s.host.judge(at, g.allowed)
}

var noRights rights

func (a Agent) rights() *rights {
	if a.pinned == nil {
		return &noRights
	}
	return a.pinned.rights.Load()
}
