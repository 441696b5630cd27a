package check

import "time"

// Outcome is the meaning of an attempt for the backend.
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

// Result is the result of an attempt.
type Result struct {
	Outcome Outcome
	// HeldUp is true if the attempt ended without an answer while this process was stopped or had
	// no processor time. The outcome is then Unknown, until Tracker.Weigh has seen too many in a
	// row.
	HeldUp bool
	// Refused is true for a Failure because nothing listens at the address and port.
	Refused bool
	// Err is the reason of an outcome other than Success, in at most MaxReason octets of printable
	// UTF-8; empty for Success. It may quote the backend.
	Err string
	// Latency is the duration of the whole attempt: connecting, handshake, request and complete
	// answer.
	Latency time.Duration
	// At is the time when the attempt ended.
	At time.Time
}
