package status

import (
	"time"

	"gslb.internal/shared/check"
)

// ShareInputs has the ramps and holds that change the share of a backend, in addition to Inputs.
type ShareInputs struct {
	// HeldReason is the reason of a held report of unhealthy.
	HeldReason string
	// Warnings are the effective early warnings, nil without any. WarningHeld is true if there are also held warnings.
	Warnings    *Warnings
	WarningHeld bool
	// DampedUntil is the end of the delay of a flapping backend, or zero.
	DampedUntil time.Time
	// Recovery is the ramp after the backend was down, or nil.
	Recovery *Ramp
	// Drains are the drains of an operator and of an agent, or nil.
	Drains [2]*Ramp
}

// Serving is the effective status of a backend with its share.
type Serving struct {
	Conclusion
	Share float64 // from 0 to 1
	Held  bool    // a hold lets the backend serve
	// Drain is the drain that ends at the lowest share, or nil.
	Drain *Ramp
}

// ConcludeShare returns the effective status according to the truth table, and the share after early warnings and
// drains. The reason of an override has precedence over the reasons of early warnings. The reason of a drain has
// precedence over the reason of an override.
func ConcludeShare(in Inputs, l *ShareInputs, now time.Time) Serving {
	s := Serving{Conclusion: Conclude(in), Share: 1}
	if s.Held = s.Reason == ReasonHeld; s.Held {
		s.Reason = l.HeldReason
	}
	isOverridden := in.Override != check.StateUnknown
	if l.Warnings != nil {
		var reason string
		if s.Share, reason = l.Warnings.Share(now); reason != "" && s.MayServe && !isOverridden {
			s.Reason = reason
		}
	}
	if s.MayServe && !isOverridden && !s.Held && l.WarningHeld {
		s.Held, s.Reason = true, ReasonWarningHeld
	}
	if now.Before(l.DampedUntil) && s.MayServe && !s.Held && !isOverridden {
		s.Status, s.MayServe, s.Reason = isUnhealthy, false, ReasonDamped
	}
	if share := l.Recovery.shareOrFull(now); share < s.Share && s.MayServe && !isOverridden {
		s.Share, s.Reason = share, ReasonRecovering
	}
	for _, d := range l.Drains {
		if d != nil {
			s.Share = min(s.Share, d.Share(now))
		}
	}
	if s.Drain = Lowest(l.Drains[0], l.Drains[1]); s.Drain != nil && s.Share == 0 && s.MayServe {
		s.MayServe, s.Reason = false, ReasonDrained
		if isOverridden {
			s.Reason = ReasonDrainedAnyway
		}
	}
	s.Held = s.Held && s.MayServe
	return s
}
