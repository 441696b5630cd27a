package report

// reason says why a node could not be spoken to; the values are labels of a metric.
type reason string

// The reasons.
const (
	reasonResolve     reason = "resolve"      // its name was not found
	reasonUnreachable reason = "unreachable"  // no connection
	reasonKey         reason = "key_mismatch" // it cannot read us, or we cannot read it
	reasonHello       reason = "not_gslb"     // it speaks something else
	reasonCertificate reason = "certificate"  // it is not the node that was pinned
	reasonBusy        reason = "busy"         // it takes no further stream at present
)

var reasons = []reason{reasonResolve, reasonUnreachable, reasonKey, reasonHello, reasonCertificate, reasonBusy}

// contactError is why a Hello failed.
type contactError struct {
	reason reason
	err    error
}

// Error describes the cause for people.
func (e *contactError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *contactError) Unwrap() error { return e.err }
