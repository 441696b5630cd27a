package check

// State is the conclusion from consecutive results.
type State uint8

// The states. The zero value is StateUnknown: no conclusive result yet.
const (
	StateUnknown State = iota
	StateHealthy
	StateUnhealthy
)

// String returns "unknown", "healthy" or "unhealthy", as the API spells them.
func (s State) String() string {
	switch s {
	case StateHealthy:
		return "healthy"
	case StateUnhealthy:
		return "unhealthy"
	default:
		return "unknown"
	}
}

// Tracker derives a state from consecutive outcomes. F and S are the failure and the success threshold; "in a row"
// counts this outcome and ignores Unknown outcomes:
//
//	state      outcome   in a row   next
//	any        unknown   -          the same, and the row continues
//	unknown    success   any        healthy; of a wary tracker only S
//	unknown    failure   below F    unknown
//	unknown    failure   F          unhealthy
//	healthy    success   any        healthy
//	healthy    failure   below F    healthy
//	healthy    failure   F          unhealthy
//	unhealthy  failure   any        unhealthy
//	unhealthy  success   below S    unhealthy
//	unhealthy  success   S          healthy
//
// With Leaky counting, failures in the state healthy count together until calmAfter successes in a row.
//
// It is not safe for concurrent use.
type Tracker struct {
	leaky            bool
	wary             bool
	faults           int // failures counted together
	failureThreshold int
	successThreshold int
	state            State
	held             uint8 // consecutive results with HeldUp
	failures         int
	successes        int
}

// calmAfter is the number of consecutive successes that resets the failures in leaky counting, as in gdnsd.
const calmAfter = 10

// Tracker returns a Tracker in StateUnknown with the thresholds and counting of the Spec.
func (s Spec) Tracker() *Tracker {
	t := NewTracker(s.FailureThreshold, s.SuccessThreshold)
	t.leaky = s.Detail.Detail().Counting == Leaky
	return t
}

// TrackerAfter returns a Tracker with the thresholds and counting of s that continues known, a tracker of the same
// backend with the previous Spec. The state remains until the thresholds change it. The counts of consecutive results
// continue only if attempts of both Specs have the same meaning.
func (s Spec) TrackerAfter(former Spec, known Tracker) *Tracker {
	t := s.Tracker()
	t.state, t.wary = known.state, known.wary
	if s.SameAttempt(former) {
		t.faults, t.failures, t.successes = known.faults, known.failures, known.successes
	}
	return t
}

// NewTracker returns a Tracker in StateUnknown. A threshold below 1 is treated as 1.
func NewTracker(failure, success int) *Tracker {
	return &Tracker{failureThreshold: max(failure, 1), successThreshold: max(success, 1)}
}

// Wary makes a tracker in StateUnknown require S consecutive successes for StateHealthy, instead of a single success.
// It is for a backend with a known previous failure.
func (t *Tracker) Wary() { t.wary = true }

// Observe takes the next outcome and reports whether it changed the state.
func (t *Tracker) Observe(o Outcome) (changed bool) {
	before := t.state
	switch o {
	case Success:
		t.failures, t.successes = 0, t.successes+1
		if before == StateUnknown && !t.wary || t.successes >= t.successThreshold {
			t.state = StateHealthy
		}
		if !t.leaky || t.state != before || t.successes >= calmAfter {
			t.faults = 0
		}
	case Failure:
		t.successes, t.failures, t.faults = 0, t.failures+1, t.faults+1
		if t.faults >= t.failureThreshold {
			t.state = StateUnhealthy
		}
	}
	return t.state != before
}

// MaxHeldUp is the number of consecutive results with HeldUp that are treated as Unknown. Without the limit, a machine
// that is always overloaded would report a failed backend as healthy.
const MaxHeldUp = 3

// Weigh returns a result with its final outcome, for Observe. A result with HeldUp becomes a failure after MaxHeldUp
// such results in a row.
func (t *Tracker) Weigh(r Result) Result {
	switch {
	case !r.HeldUp && r.Outcome != Unknown:
		t.held = 0
	case r.HeldUp && t.held < MaxHeldUp:
		t.held++
	case r.HeldUp:
		r.Outcome = Failure
		r.Err = clip(r.Err + "; the checks before were held up too")
	}
	return r
}

// isContradicted reports whether the last conclusive result differs from the state, or the state is still unknown.
func (t *Tracker) isContradicted() bool {
	switch t.state {
	case StateHealthy:
		return t.failures > 0
	case StateUnhealthy:
		return t.successes > 0
	default:
		return t.failures+t.successes > 0
	}
}

// State returns the current state.
func (t *Tracker) State() State { return t.state }

// Failures returns the number of consecutive failures, without Unknown results.
func (t *Tracker) Failures() int { return t.failures }

// Successes returns the number of consecutive successes, without Unknown results.
func (t *Tracker) Successes() int { return t.successes }
