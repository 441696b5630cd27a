package registry

import (
	"slices"
	"time"

	"gslb.internal/shared/api"
)

// Brake holds the settings of a service's brakes: overwatch.brake of the configuration. The zero value is off.
type Brake struct {
	Enabled bool
	// Percent is the part of a service's serving backends above which accusations by agents alone are held, counted over
	// Window.
	Percent int
	Window  time.Duration
	// Hold is the time after which the agents are believed.
	Hold time.Duration
}

// leastBraked is the number of serving backends from which on a service has a brake: half of two is one, and one
// backend that dies is no sign of agents that err.
const leastBraked = 3

// trips reports whether agents alone take out too many backends: taken within the window, while others go on serving.
func (b Brake) trips(taken, others int) bool {
	all := taken + others
	return b.Enabled && all >= leastBraked && taken*100 > b.Percent*all
}

// Concern is a kind of accusation. Each has a brake of its own.
type Concern int

// The concerns.
const (
	// ConcernIll takes a backend out: its agent says unhealthy.
	ConcernIll Concern = iota
	// ConcernWarned lowers its share: its agent warns early.
	ConcernWarned
	concerns
)

// Word returns c as the API writes it.
func (c Concern) Word() api.BrakeConcern {
	if c == ConcernIll {
		return api.BrakeUnhealthy
	}
	return api.BrakeWarning
}

// BrakeState is a brake that is on.
type BrakeState struct {
	Service string
	Concern Concern
	Since   time.Time
	// Until is the end of the hold.
	Until time.Time
}

// BrakeChange is the beginning or the end of a brake.
type BrakeChange struct {
	BrakeState
	// On is true at the beginning, false at the end.
	On bool
	// Held lists the backends that are held from now on, or were held until now.
	Held []ID
	// Why is the reason of the end: "" at the beginning, and where an operator released the brake.
	Why string
}

// The reasons of an end.
const (
	brakeHeldEnough  = "the time of the hold is over: the agents are believed"
	brakeNothingHeld = "nothing was held any more for a whole window"
	brakeSwitchedOff = "overwatch.brake is switched off"
)

// brake is a service's brake for one concern. While it is on, it also holds what agents alone say of further backends,
// so that a mistake that spreads does not get through one backend at a time.
//
//	off   more than Percent of the serving backends are taken within Window    on: they are held
//	on    Hold is over, an operator releases it, or nothing is held for Window  off: the agents are believed
type brake struct {
	service *service
	concern Concern
	since   time.Time // zero: off
	quiet   time.Time // since when nothing is held; zero while something is
	timer   deadlineAt
}

func (b *brake) on() bool { return !b.since.IsZero() }

// state returns b in the form for readers.
func (b *brake) state(settings Brake) BrakeState {
	return BrakeState{b.service.name, b.concern, b.since, b.since.Add(settings.Hold)}
}

// due implements timed: publish, which follows, judges.
func (b *brake) due(w *writer, at deadlineAt, _ time.Time) {
	if b.timer == at {
		b.timer = 0
		w.mark(b.service, false)
	}
}

// brakesOf returns the brakes of s, new ones if it has none.
func (w *writer) brakesOf(s *service) *[concerns]brake {
	if s.brakes == nil {
		s.brakes = new([concerns]brake)
		for c := range s.brakes {
			s.brakes[c].service, s.brakes[c].concern = s, Concern(c)
		}
	}
	return s.brakes
}

// judgeBrakes switches the brakes of s on or off by the table of brake.
func (w *writer) judgeBrakes(s *service, now time.Time) {
	if s.brakes == nil {
		return
	}
	settings := w.options.Brake(s.name)
	for c := range s.brakes {
		b := &s.brakes[c]
		if b.on() {
			w.judgeEnd(b, settings, now)
		} else if held := w.judgeBegin(b, settings, now); len(held) > 0 {
			w.beginBrake(b, settings, held, now)
		}
	}
}

// judgeBegin returns the records that b holds if it is switched on now, none if it stays off.
func (w *writer) judgeBegin(b *brake, settings Brake, now time.Time) (held []*record) {
	taken, others := 0, 0
	for _, r := range b.service.records {
		a := r.accusation(b.concern)
		counts := a != nil && !a.believed && now.Sub(a.since) < settings.Window
		switch {
		case counts && r.pub.wouldServe(b.concern):
			taken++
			if w.witnessed(r, now) {
				held = append(held, r)
			}
		case r.pub.MayServe:
			others++
		}
	}
	if !settings.trips(taken, others) {
		return nil
	}
	return held
}

// beginBrake switches b on. Accusations from before the window stay believed.
func (w *writer) beginBrake(b *brake, settings Brake, held []*record, now time.Time) {
	b.since, b.quiet = now, time.Time{}
	for _, r := range slices.Clone(b.service.records) {
		if a := r.accusation(b.concern); a != nil && now.Sub(a.since) >= settings.Window {
			a.believed = true
		}
		w.refresh(r, now)
	}
	w.wake(b, &b.timer, now.Add(settings.Hold))
	ids := idsOf(held)
	w.options.Logger.Warn().Str("service", b.service.name).Int("held", len(ids)).Stringer("for", settings.Hold).
		Msg("agents alone would take more of this name's backends than the brake allows, and this node's own checks of " +
			"them succeed: they are held; look at the agents")
	w.showBrakes()
	w.options.Braked(BrakeChange{BrakeState: b.state(settings), On: true, Held: ids})
}

// judgeEnd switches b off if that is due.
func (w *writer) judgeEnd(b *brake, settings Brake, now time.Time) {
	held := w.heldBy(b, now)
	switch ends := b.since.Add(settings.Hold); {
	case !settings.Enabled:
		w.endBrake(b, held, brakeSwitchedOff, now)
	case !now.Before(ends):
		w.endBrake(b, held, brakeHeldEnough, now)
	case len(held) > 0:
		b.quiet = time.Time{}
		w.wake(b, &b.timer, ends)
	case b.quiet.IsZero():
		b.quiet = now
		w.wake(b, &b.timer, now.Add(settings.Window))
	case now.Sub(b.quiet) >= settings.Window:
		w.endBrake(b, held, brakeNothingHeld, now)
	default:
		w.wake(b, &b.timer, b.quiet.Add(settings.Window))
	}
}

// heldBy returns the records whose accusation b holds.
func (w *writer) heldBy(b *brake, now time.Time) (held []*record) {
	for _, r := range b.service.records {
		if w.holds(r, b.concern, now) {
			held = append(held, r)
		}
	}
	return held
}

// endBrake switches b off. Present accusations count as believed until the agents take them back.
func (w *writer) endBrake(b *brake, held []*record, why string, now time.Time) {
	change := BrakeChange{BrakeState: b.state(w.options.Brake(b.service.name)), Held: idsOf(held), Why: why}
	b.since, b.quiet = time.Time{}, time.Time{}
	for _, r := range slices.Clone(b.service.records) {
		if a := r.accusation(b.concern); a != nil {
			a.believed = true
		}
		r.heldBefore = false
		w.refresh(r, now)
	}
	w.options.Logger.Warn().Str("service", b.service.name).Int("held", len(held)).Str("reason", why).
		Msg("the brake of this name has ended")
	w.showBrakes()
	w.options.Braked(change)
}
