package status

import (
	"math"
	"time"
)

const (
	// DrainSteps is the number of steps in which a drain lowers a share. Each step is a publication of the service.
	DrainSteps = 20
	// WarningSteps is the number of steps in which an early warning lowers a share. A step is a twentieth of the whole,
	// as for a drain.
	WarningSteps = 18
	// LeastShare is the share that remains with early warnings, because the agent still reports healthy.
	LeastShare = 0.1
)

// MaxRampTime is the maximum duration of a ramp. A longer duration is probably a mistyped unit.
const MaxRampTime = 24 * time.Hour

// Ramp lowers the share of a backend in equal steps from 1 to a final share, or raises it back to 1 over the same time.
// The zero Ramp has no effect.
type Ramp struct {
	// Since is the time of the last change of direction or duration. Depth is the depth at that time: 0 is a share of 1,
	// Over is the final share.
	Since time.Time
	Depth time.Duration
	Over  time.Duration
	// To is the final share, from 0 to below 1.
	To     float64
	Rising bool
	steps  int8 // 0: no ramp
}

// Drain returns the ramp of a drain to a share. Without a duration, the drain has its final share immediately.
func Drain(since time.Time, over time.Duration, to float64) Ramp {
	return Ramp{Since: since, Over: min(max(over, 0), MaxRampTime), To: to, steps: DrainSteps}
}

// IsActive reports whether r is a ramp.
func (r *Ramp) IsActive() bool { return r.steps > 0 }

// depthAt returns the depth at now.
func (r *Ramp) depthAt(now time.Time) time.Duration {
	elapsed := min(max(now.Sub(r.Since), 0), r.Over)
	if r.Rising {
		return max(r.Depth-elapsed, 0)
	}
	return min(r.Depth+elapsed, r.Over)
}

// stepAt returns the number of steps below a share of 1 at now. A falling ramp rounds down and a rising ramp up.
func (r *Ramp) stepAt(now time.Time) int {
	depth, steps := r.depthAt(now), time.Duration(r.steps)
	switch {
	case r.Rising:
		return int((depth*steps + r.Over - 1) / r.Over)
	case depth == r.Over:
		return int(steps)
	}
	return int(depth * steps / r.Over)
}

// depthOfStep returns the depth after a number of steps.
func (r *Ramp) depthOfStep(steps int) time.Duration {
	return (r.Over*time.Duration(steps) + time.Duration(r.steps) - 1) / time.Duration(r.steps)
}

// Share returns the share at now.
func (r *Ramp) Share(now time.Time) float64 {
	if !r.IsActive() {
		return 1
	}
	return 1 - (1-r.To)*float64(r.stepAt(now))/float64(r.steps)
}

// shareOrFull returns the share at now, or 1 for a nil ramp.
func (r *Ramp) shareOrFull(now time.Time) float64 {
	if r == nil {
		return 1
	}
	return r.Share(now)
}

// NextStep returns the time of the step after now. moving is false after the last step.
func (r *Ramp) NextStep(now time.Time) (at time.Time, moving bool) {
	if !r.IsActive() {
		return time.Time{}, false
	}
	step := r.stepAt(now)
	switch {
	case r.Rising && step > 0:
		return r.Since.Add(r.Depth - time.Duration(step-1)*r.Over/time.Duration(r.steps)), true
	case !r.Rising && step < int(r.steps):
		return r.Since.Add(r.depthOfStep(step+1) - r.Depth), true
	}
	return time.Time{}, false
}

// End returns the time of the last step of a falling ramp.
func (r *Ramp) End() time.Time { return r.Since.Add(r.Over - r.Depth) }

// ContinueFrom makes a drain start at the share of the previous drain at now, so that a new drain never raises the
// share. before may be nil.
func (r *Ramp) ContinueFrom(before *Ramp, now time.Time) {
	if before == nil {
		return
	}
	const rounding = 1e-9
	steps := math.Ceil((1-before.Share(now))/(1-r.To)*float64(r.steps) - rounding)
	if since := now.Add(-r.depthOfStep(int(min(steps, float64(r.steps))))); since.Before(r.Since) {
		r.Since = since
	}
}

// isLowerThan reports whether r ends at a lower share than other, or at the same share earlier.
func (r *Ramp) isLowerThan(other *Ramp) bool {
	return r.To < other.To || r.To == other.To && r.End().Before(other.End())
}

// Lowest returns the drain that ends at the lowest share, or nil. Drains may be nil.
func Lowest(drains ...*Ramp) (lowest *Ramp) {
	for _, d := range drains {
		if d != nil && (lowest == nil || d.isLowerThan(lowest)) {
			lowest = d
		}
	}
	return lowest
}

// Recovery returns the ramp of a backend that serves after it was down: its share rises from LeastShare to 1 during the
// given time. If the time is 0, there is no ramp.
func Recovery(since time.Time, over time.Duration) Ramp {
	if over <= 0 {
		return Ramp{}
	}
	r := newWarning(since, over, over)
	r.Rising = true
	return r
}

// updateWarning updates the ramp of an early warning. During the warning, r falls over the given time. The time 0 means
// that the warning has ended; r then rises.
func (r *Ramp) updateWarning(over time.Duration, now time.Time) {
	switch {
	case over > 0 && !r.IsActive():
		*r = newWarning(now, over, 0)
	case over > 0 && (r.Rising || over != r.Over):
		done := float64(r.depthAt(now)) / float64(r.Over)
		*r = newWarning(now, over, time.Duration(done*float64(over)))
	case over == 0 && r.IsActive() && !r.Rising:
		r.Depth, r.Since, r.Rising = r.depthAt(now), now, true
	}
	if r.Rising && r.depthAt(now) == 0 {
		*r = Ramp{}
	}
}

func newWarning(since time.Time, over, depth time.Duration) Ramp {
	return Ramp{Since: since, Over: over, Depth: depth, To: LeastShare, steps: WarningSteps}
}
