package check

import "time"

// Outcome is the meaning of an attempt for the backend.
type Outcome uint8

// The outcomes. The zero value is Unknown: an inconclusive attempt.
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
	// HeldUp is true if the attempt ended without an answer while this process was stopped or had no processor time. The
	// outcome is Unknown, except after MaxHeldUp such results in a row, see Tracker.Weigh.
	HeldUp bool
	// Refused is true if the backend refused the connection. The outcome is then Failure.
	Refused bool
	// Err is the reason of an outcome other than Success, at most MaxReason octets of printable UTF-8, and may quote the
	// backend. It is empty for Success.
	Err string
	// Latency is the duration of the whole attempt: connecting, handshake, request and complete
	// answer.
	Latency time.Duration
	// At is the time when the attempt ended.
	At time.Time
}
