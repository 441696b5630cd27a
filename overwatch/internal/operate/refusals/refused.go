package refusals

import (
	"net/netip"

	"gslb.internal/shared/wire"
)

// refused is a message of an agent that this node has rejected.
type refused struct {
	agent, service string
	backend        netip.AddrPort // zero if the message concerns no backend
	code           wire.RejectCode
}

// Error returns the text for the audit log.
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

// worth reports whether the rejection has an audit entry, because it may be an attack. Other rejections are caused by a
// restart, or by the node's own limits.
func (r refused) worth() bool {
	switch r.code {
	case wire.CodeWrongToken, wire.CodeUnknownService, wire.CodeRevoked, wire.CodePinMismatch, wire.CodeConflictingClaim,
		wire.CodePolicy, wire.CodeLimit, wire.CodeLocked:
		return true
	case wire.CodeNotEnrolled:
		return r.backend.IsValid() // a service without authorization
	}
	return false
}
