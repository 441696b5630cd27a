package registry

import (
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/wire"
)

const (
	// bleedSteps is the number of steps in which a bleed changes a share. Each step publishes the service anew, so a bleed
	// costs this many publications however long it takes. A step is a twentieth of the whole, like a drain's: whole
	// percents.
	bleedSteps = 18
	// leastShare is the share that a backend keeps whatever its agent warns of: the agent still calls it healthy.
	leastShare = 0.1
)

// The kinds of early warnings.
const (
	warnsOfCPU = iota
	warnsOfMemory
	warnsOfErrors
	warningKinds
)

// bleed lowers a share linearly from 1 to leastShare while a warning holds and raises it over the same time afterwards:
//
//	begun   over == 0: no warning, none that has just ended
//	falling the warning holds; at the end of over the share is leastShare and stays there
//	rising  the warning has ended; the way back begins where the share was
type bleed struct {
	over   time.Duration
	depth  time.Duration // at since: 0 is the full share, over is leastShare
	since  time.Time
	rising bool
}

// at returns the depth at now.
func (b *bleed) at(now time.Time) time.Duration {
	elapsed := min(max(now.Sub(b.since), 0), b.over)
	if b.rising {
		return max(b.depth-elapsed, 0)
	}
	return min(b.depth+elapsed, b.over)
}

// step returns how many steps below the full share b is at now.
func (b *bleed) step(now time.Time) int {
	if b.over == 0 {
		return 0
	}
	if b.rising {
		return int((b.at(now)*bleedSteps + b.over - 1) / b.over)
	}
	return int(b.at(now) * bleedSteps / b.over)
}

func (b *bleed) share(now time.Time) float64 {
	return 1 - (1-leastShare)*float64(b.step(now))/bleedSteps
}

// next returns when the step after the one at now is due; moving is false at the end of the way.
func (b *bleed) next(now time.Time) (at time.Time, moving bool) {
	step := time.Duration(b.step(now))
	switch {
	case b.rising && step > 0:
		return b.since.Add(b.depth - (step-1)*b.over/bleedSteps), true
	case !b.rising && step < bleedSteps && b.over > 0:
		return b.since.Add(((step+1)*b.over+bleedSteps-1)/bleedSteps - b.depth), true
	}
	return time.Time{}, false
}

// follow makes b fall over the given time, or rise for zero.
func (b *bleed) follow(over time.Duration, now time.Time) {
	switch {
	case over > 0 && b.over == 0:
		*b = bleed{over: over, since: now}
	case over > 0 && (b.rising || over != b.over):
		done := float64(b.at(now)) / float64(b.over)
		*b = bleed{over: over, depth: time.Duration(done * float64(over)), since: now}
	case over == 0 && b.over > 0 && !b.rising:
		b.depth, b.since, b.rising = b.at(now), now, true
	}
	if b.rising && b.at(now) == 0 {
		*b = bleed{}
	}
}

// bleeds are the bleeds of one claim, by kind.
type bleeds [warningKinds]bleed

// stored returns the bleeds as they are saved: their beginnings by the wall clock.
func (b *bleeds) stored() (saved [warningKinds]store.Bleed) {
	if b == nil {
		return saved
	}
	for kind, one := range b {
		if one.over > 0 {
			saved[kind] = store.Bleed{Over: one.over, Depth: one.depth, Since: one.since.Round(0), Ended: one.rising}
		}
	}
	return saved
}

// followWarnings updates the bleeds of r to its agent's warnings. Warnings of a silent agent do not count, nor do those
// that the brake holds.
func (w *writer) followWarnings(r *record, now time.Time) {
	c := r.claim
	if c == nil {
		return
	}
	said := c.said.warnings
	if w.stale(c.agent, now) || w.holder(r, ConcernWarned, now) != nil {
		said = wire.Warnings{}
	}
	if c.bleeds == nil {
		if said == (wire.Warnings{}) {
			return
		}
		c.bleeds = new(bleeds)
	}
	before := *c.bleeds
	for kind, millis := range [warningKinds]uint32{said.CPUMillis, said.MemoryMillis, said.ErrorRateMillis} {
		c.bleeds[kind].follow(min(time.Duration(millis)*time.Millisecond, MaxDrainTime), now)
	}
	if *c.bleeds != before {
		w.keep(r)
	}
	if *c.bleeds == (bleeds{}) {
		c.bleeds = nil
	}
}

// applyBleeds lowers b's share for the warnings about r. The lowest share of all kinds counts, and its warning is the
// reason.
func (b *Backend) applyBleeds(r *record, now time.Time) {
	if r.claim == nil || r.claim.bleeds == nil || r.outsider() {
		return
	}
	reason := ""
	for kind := range r.claim.bleeds {
		one := &r.claim.bleeds[kind]
		if one.over == 0 {
			continue
		}
		if share := one.share(now); share < b.Share || reason == "" || reason == ReasonWarningEnded && share == b.Share {
			b.Share, reason = min(b.Share, share), one.reason(kind)
		}
	}
	if b.MayServe && b.Override == nil {
		b.Reason = reason
	}
}

func (b *bleed) reason(kind int) string {
	switch {
	case b.rising:
		return ReasonWarningEnded
	case kind == warnsOfCPU:
		return ReasonWarnsOfCPU
	case kind == warnsOfMemory:
		return ReasonWarnsOfMemory
	default:
		return ReasonWarnsOfErrors
	}
}
