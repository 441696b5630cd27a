package status

import (
	"time"

	"gslb.internal/shared/wire"
)

// The kinds of early warnings.
const (
	WarningCPU = iota
	WarningMemory
	WarningErrors
	WarningKinds
)

// Warnings are the ramps of the early warnings about a backend, by kind.
type Warnings [WarningKinds]Ramp

// RestoredWarning returns a stored ramp. It clamps durations to their bounds.
func RestoredWarning(since time.Time, over, depth time.Duration, rising bool) Ramp {
	over = min(max(over, 0), MaxRampTime).Truncate(time.Millisecond)
	if over == 0 {
		return Ramp{}
	}
	r := newWarning(since, over, min(max(depth, 0), over))
	r.Rising = rising
	return r
}

// Update updates the ramps to the warnings that an agent reports now.
func (w *Warnings) Update(reported wire.Warnings, now time.Time) {
	for kind, millis := range [...]uint32{reported.CPUMillis, reported.MemoryMillis, reported.ErrorRateMillis} {
		w[kind].updateWarning(min(time.Duration(millis)*time.Millisecond, MaxRampTime), now)
	}
}

// Reported returns the warnings that have not ended.
func (w *Warnings) Reported() (r wire.Warnings) {
	for kind, to := range [...]*uint32{&r.CPUMillis, &r.MemoryMillis, &r.ErrorRateMillis} {
		if ramp := &w[kind]; ramp.IsActive() && !ramp.Rising {
			*to = uint32(ramp.Over.Milliseconds())
		}
	}
	return r
}

// Share returns the lowest share of all kinds and the reason of its kind. At the same share, a warning that has not
// ended has precedence over an ended warning. The reason is "" without warnings.
func (w *Warnings) Share(now time.Time) (share float64, reason string) {
	share = 1
	for kind := range w {
		ramp := &w[kind]
		if !ramp.IsActive() {
			continue
		}
		if s := ramp.Share(now); s < share || reason == "" || reason == ReasonWarningEnded && s == share {
			share, reason = min(share, s), ramp.warningReason(kind)
		}
	}
	return share, reason
}

func (r *Ramp) warningReason(kind int) string {
	switch {
	case r.Rising:
		return ReasonWarningEnded
	case kind == WarningCPU:
		return ReasonWarnsOfCPU
	case kind == WarningMemory:
		return ReasonWarnsOfMemory
	}
	return ReasonWarnsOfErrors
}
