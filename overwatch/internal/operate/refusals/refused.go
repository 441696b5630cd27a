package refusals

import (
	"net/netip"

	"gslb.internal/shared/wire"
)

// refused is a message of an agent that this node did not believe.
type refused struct {
	agent, service string
	backend        netip.AddrPort // the zero value where it is about no backend
	code           wire.RejectCode
}

// Error returns the sentence that the audit log has of it.
func (r refused) Error() string {
	text := "refused: " + r.code.String()
	if r.service != "" {
		text += ", service " + r.service
	}
	if r.backend.IsValid() {
		text += ", backend " + r.backend.String()
	}
	return text
}

// worth reports whether the refusal is worth an audit entry: it may be an attack. Others follow from a restart, or from
// the node's own limits.
func (r refused) worth() bool {
	switch r.code {
	case wire.CodeWrongToken, wire.CodeUnknownService, wire.CodeRevoked, wire.CodePinMismatch, wire.CodeConflictingClaim,
		wire.CodePolicy, wire.CodeLimit, wire.CodeLocked:
		return true
	case wire.CodeNotEnrolled:
		return r.backend.IsValid() // a service that it has not proved
	}
	return false
}
