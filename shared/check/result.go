package check

import "time"

// Outcome is what one attempt says about the backend.
type Outcome uint8

// The outcomes. The zero value is Unknown: an attempt that says nothing.
const (
	Unknown Outcome = iota
	Success
	Failure
)

// String returns "unknown", "success" or "failure"; it is a metric label.
func (o Outcome) String() string {
	switch o {
	case Success:
		return "success"
	case Failure:
		return "failure"
	default:
		return "unknown"
	}
}

// MaxReason bounds Result.Err, in octets.
const MaxReason = 200

// Result is what one attempt found.
type Result struct {
	Outcome Outcome
	// HeldUp tells that the attempt ended without an answer while this process did not run as it should: it was stopped, or the
	// machine had no time for it. The outcome is Unknown then, until Tracker.Weigh has seen too many of them.
	HeldUp bool
	// Err says in at most MaxReason octets of printable UTF-8 why the outcome is not
	// Success; it is empty for Success. It may quote the backend.
	Err string
	// Latency is how long the whole attempt took: connecting, handshake, request
	// and complete answer.
	Latency time.Duration
	// At is when the attempt ended.
	At time.Time
}
