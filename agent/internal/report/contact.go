package report

// reason is the cause of a failed contact with a node. The values are labels of a metric.
type reason string

// The reasons.
const (
	reasonResolve     reason = "resolve"      // the node's name was not found
	reasonUnreachable reason = "unreachable"  // no connection
	reasonKey         reason = "key_mismatch" // the gossip keys differ
	reasonHello       reason = "not_gslb"     // the node speaks another protocol
	reasonCertificate reason = "certificate"  // the node's certificate differs from the pinned certificate
	reasonBusy        reason = "busy"         // the node accepts no further stream at present
)

var reasons = []reason{reasonResolve, reasonUnreachable, reasonKey, reasonHello, reasonCertificate, reasonBusy}

// contactError is the error of a failed Hello.
type contactError struct {
	reason reason
	err    error
}

// Error describes the cause.
func (e *contactError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *contactError) Unwrap() error { return e.err }
