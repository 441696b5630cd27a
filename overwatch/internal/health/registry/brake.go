package registry

import (
	"iter"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// Brake holds the settings of mass-failure protection: overwatch.brake of the configuration. The zero value is off.
type Brake struct {
	Enabled bool
	// Percent is the part of the serving backends of a service, an agent or a region above which accusations by agents
	// alone are held, counted over Window.
	Percent int
	// KeepRegion holds the accusations of an agent that alone would take all serving backends of a region. This hold has
	// no end by time.
	KeepRegion bool
	Window     time.Duration
	// Hold is the time after which the agents are believed.
	Hold time.Duration
}

const (
	// leastBraked is the number of serving backends from which on a service, an agent or a region is protected: half of
	// two is one, and one backend that dies is no sign of agents that err.
	leastBraked = 3
	// leastKept is the number of backends from which on a region is protected against one agent (Brake.KeepRegion).
	leastKept = 2
)

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

// BrakeState is a brake that is on. It has a service, an agent or a region; one of a region that only one agent would
// take has both the agent and the region.
type BrakeState struct {
	Service, Agent, Region string
	Concern                Concern
	Since                  time.Time
	// Until is the end of the hold; zero where it has no end by time.
	Until time.Time
}

// Holds reports whether b is one of the backends that the brake holds.
func (s BrakeState) Holds(b *Backend) bool {
	switch {
	case !b.Held:
		return false
	case s.Region != "":
		return b.Reason == status.ReasonHeldRegion && b.Region == s.Region
	case s.Agent != "":
		return b.Reason == status.ReasonHeldAgent && b.AgentID == s.Agent
	case s.Concern == ConcernWarned:
		return b.Reason == status.ReasonWarningHeld && b.Service == s.Service
	}
	return b.Reason == status.ReasonHeld && b.Service == s.Service
}

// Held yields the backends of v that the brake holds.
func (s BrakeState) Held(v *View) iter.Seq[*Backend] {
	all := v.Backends()
	if s.Service != "" {
		all = slices.Values(v.Service(s.Service))
	}
	return func(yield func(*Backend) bool) {
		for b := range all {
			if s.Holds(b) && !yield(b) {
				return
			}
		}
	}
}

// Subject returns the service, or the agent or region with its kind in front.
func (s BrakeState) Subject() string {
	switch {
	case s.Region != "":
		return "region " + s.Region
	case s.Agent != "":
		return "agent " + s.Agent
	}
	return s.Service
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

// brake is the mass-failure protection of a service, an agent or a region for one concern. While it is on, it also
// holds what agents alone say of further backends, so that a mistake that spreads does not get through one
// backend at a time.
//
//	off   more than Percent of the serving backends are taken within Window,    on: they are held
//	      or keeps is set
//	on    Hold is over and keeps is not set, an operator releases it, or         off: the agents are believed
//	      nothing is held for Window
type brake struct {
	of      braked
	concern Concern
	since   time.Time // zero: off
	quiet   time.Time // since when nothing is held; zero while something is
	// keeps tells that one agent alone would take all serving backends of the region (Brake.KeepRegion).
	keeps bool
	timer deadlineAt
}

// braked is what a brake protects.
type braked interface {
	// accusedRecords returns the records of which an agent may hold an accusation, in a new slice.
	accusedRecords() []*record
	// others returns the number of serving backends outside the taken ones.
	others(taken []*record) int
	// rejudge has the brakes judged before the next publication.
	rejudge(w *writer)
	// setSubject names what is protected in a state.
	setSubject(*BrakeState)
}

func (s *service) accusedRecords() []*record { return slices.Clone(s.records) }
func (s *service) rejudge(w *writer)         { w.mark(s, false) }
func (s *service) setSubject(st *BrakeState) { st.Service = s.name }

func (s *service) others(taken []*record) (n int) {
	for _, r := range s.records {
		if r.pub.MayServe && !slices.Contains(taken, r) {
			n++
		}
	}
	return n
}

func (b *brake) on() bool { return !b.since.IsZero() }

// state returns b in the form for readers.
func (b *brake) state(settings Brake) BrakeState {
	s := BrakeState{Concern: b.concern, Since: b.since, Until: b.since.Add(settings.Hold)}
	if b.keeps {
		s.Until = time.Time{}
	}
	b.of.setSubject(&s)
	return s
}

// due implements timed: publish, which follows, judges.
func (b *brake) due(w *writer, at deadlineAt, _ time.Time) {
	if b.timer == at {
		b.timer = 0
		b.of.rejudge(w)
	}
}

// brakesOf returns the brakes of s, new ones if it has none.
func (w *writer) brakesOf(s *service) *[concerns]brake {
	if s.brakes == nil {
		s.brakes = new([concerns]brake)
		for c := range s.brakes {
			s.brakes[c].of, s.brakes[c].concern = s, Concern(c)
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
		w.judgeBrake(&s.brakes[c], settings, now)
	}
}

// judgeBrake switches b on or off by its table.
func (w *writer) judgeBrake(b *brake, settings Brake, now time.Time) {
	if b.on() {
		w.judgeEnd(b, settings, now)
	} else if held := w.judgeBegin(b, settings, now); len(held) > 0 {
		w.beginBrake(b, settings, held, now)
	}
}

// judgeBegin returns the records that b holds if it is switched on now, none if it stays off. It leaves out the records
// that another brake holds; one that keeps a region takes them over from those of agents.
func (w *writer) judgeBegin(b *brake, settings Brake, now time.Time) (held []*record) {
	var taken []*record
	for _, r := range b.of.accusedRecords() {
		a := r.accusation(b.concern)
		if a == nil || a.believed && !b.keeps || a.final || !r.pub.wouldServe(b.concern) {
			continue
		}
		if !b.keeps && now.Sub(a.since) >= settings.Window || w.isHeldElsewhere(r, b, now) {
			continue
		}
		taken = append(taken, r)
		if w.witnessed(r, now) {
			held = append(held, r)
		}
	}
	if !settings.Enabled || !b.keeps && !settings.trips(len(taken), b.of.others(taken)) {
		return nil
	}
	return held
}

// beginBrake switches b on. Accusations from before the window stay believed, unless b keeps a region.
func (w *writer) beginBrake(b *brake, settings Brake, held []*record, now time.Time) {
	for _, r := range b.of.accusedRecords() {
		a := r.accusation(b.concern)
		if a != nil && now.Sub(a.since) >= settings.Window && w.holder(r, b.concern, now) == nil {
			a.believed = true
		}
	}
	b.since, b.quiet = now, time.Time{}
	for _, r := range b.of.accusedRecords() {
		w.refresh(r, now)
	}
	w.wake(b, &b.timer, now.Add(settings.Hold))
	ids, state := idsOf(held), b.state(settings)
	w.options.Logger.Warn().Str("subject", state.Subject()).Int("held", len(ids)).Stringer("for", settings.Hold).
		Msg("mass-failure protection: agents alone would take too many serving backends of the subject, and this node's " +
			"own checks of them succeed: they are held; look at the agents")
	w.showBrakes()
	w.options.Braked(BrakeChange{BrakeState: state, On: true, Held: ids})
}

// judgeEnd switches b off if that is due.
func (w *writer) judgeEnd(b *brake, settings Brake, now time.Time) {
	held := w.heldBy(b, now)
	switch ends := b.since.Add(settings.Hold); {
	case !settings.Enabled:
		w.endBrake(b, held, brakeSwitchedOff, now)
	case !now.Before(ends) && !b.keeps:
		w.endBrake(b, held, brakeHeldEnough, now)
	case len(held) > 0:
		b.quiet = time.Time{}
		if now.Before(ends) {
			w.wake(b, &b.timer, ends)
		}
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
	for _, r := range b.of.accusedRecords() {
		if w.holder(r, b.concern, now) == b {
			held = append(held, r)
		}
	}
	return held
}

// endBrake switches b off. Present accusations count as believed until the agents take them back.
func (w *writer) endBrake(b *brake, held []*record, why string, now time.Time) {
	state := b.state(w.options.Brake(""))
	if s, ok := b.of.(*service); ok {
		state = b.state(w.options.Brake(s.name))
	}
	change := BrakeChange{BrakeState: state, Held: idsOf(held), Why: why}
	b.since, b.quiet, b.keeps = time.Time{}, time.Time{}, false
	for _, r := range b.of.accusedRecords() {
		if a := r.accusation(b.concern); a != nil {
			a.believed = true
			a.final = a.final || why == ""
		}
		r.heldBefore = false
		w.refresh(r, now)
	}
	w.options.Logger.Warn().Str("subject", state.Subject()).Int("held", len(held)).Str("reason", why).
		Msg("mass-failure protection of the subject has ended")
	w.showBrakes()
	w.options.Braked(change)
}
