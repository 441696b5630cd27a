package events

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

const (
	// flapWindow is the time in which at most maxFlapEvents changes of a subject have separate events. The first start of
	// each state, and its end, have separate events in addition.
	flapWindow    = time.Minute
	maxFlapEvents = 4
	// floodWindow is the time in which at most maxFloodEvents events of a kind are separate.
	floodWindow    = 10 * time.Second
	maxFloodEvents = 200
)

// tracker creates events from states: at the start, change and end of a state. Above the limits, it folds the events of
// a subject or a kind into one event with their number.
type tracker struct {
	journal *journal.Journal
	now     func() time.Time
	active  map[string]api.Event // start event of each active state, by journal.Key
	recent  map[string]*recent
	floods  map[api.EventKind]*flood
	folded  uint64 // changes without a separate event
}

// recent counts the events of a subject within flapWindow.
type recent struct {
	since  time.Time
	count  int       // events in the window
	folded int       // folded events since the last separate event
	last   api.Event // the last folded start or end of a state, otherwise the last folded event
	begun  map[string]bool
	fresh  bool // the last start was the first of its state, and had an event beyond maxFlapEvents
}

// isFresh reports whether an event beyond maxFlapEvents is the first start of a state, or the end of a state with such
// a start.
func (r *recent) isFresh(e *api.Event) bool {
	switch e.Phase {
	case api.PhaseBegins:
		ends := r.fresh
		r.fresh = !r.begun[e.State]
		r.begun[e.State] = true
		return ends || r.fresh
	case api.PhaseEnds:
		ends := r.fresh
		r.fresh = false
		return ends
	}
	return false
}

// foldedInto returns an event for the folded events and e.
func (r *recent) foldedInto(e api.Event, now time.Time) api.Event {
	e.Changes = r.folded
	e.Sentence = fmt.Sprintf("%d more changes in %.0f s; now %s", r.folded, now.Sub(r.since).Seconds(), e.Sentence)
	r.folded, r.last = 0, api.Event{}
	return e
}

// flood counts the events of a kind within floodWindow.
type flood struct {
	since  time.Time
	count  int
	folded int
}

func newTracker(j *journal.Journal, now func() time.Time) *tracker {
	return &tracker{journal: j, now: now, active: j.ActiveStates(), recent: map[string]*recent{},
		floods: map[api.EventKind]*flood{}}
}

// setState sets the current state of the subject of e. holds is false for the normal state, which ends an active state.
// It adds an event only after a change.
func (t *tracker) setState(e api.Event, holds bool) {
	key := journal.Key(e.Kind, e.Subject)
	before, held := t.active[key]
	switch {
	case holds && (!held || before.State != e.State):
		e.Phase, e.Time = api.PhaseBegins, t.now()
		t.active[key] = e
	case !holds && held:
		e.Phase, e.Severity = api.PhaseEnds, api.EventInfo
		delete(t.active, key)
	default:
		return
	}
	t.addEvent(e)
}

// addEvent adds an event to the journal, or folds it above the limit of its subject.
func (t *tracker) addEvent(e api.Event) {
	now := t.now()
	key := journal.Key(e.Kind, e.Subject)
	r := t.recent[key]
	if r == nil {
		r = &recent{since: now, begun: map[string]bool{}}
		t.recent[key] = r
	}
	if r.count++; r.count <= maxFlapEvents {
		r.begun[e.State] = r.begun[e.State] || e.Phase == api.PhaseBegins
	} else if r.isFresh(&e) {
		if r.folded > 0 {
			e = r.foldedInto(e, now)
		}
	} else {
		if isState := e.Phase == api.PhaseBegins || e.Phase == api.PhaseEnds; isState || r.last.Phase == "" {
			r.last = e
		}
		r.folded++
		t.folded++
		return
	}
	t.addUnlessFlood(e, now)
}

// addUnlessFlood adds an event to the journal, or folds it above the limit of its kind. The end of a state that is
// active in the journal is always added.
func (t *tracker) addUnlessFlood(e api.Event, now time.Time) {
	f := t.floods[e.Kind]
	if f == nil {
		f = &flood{since: now}
		t.floods[e.Kind] = f
	}
	if f.count++; f.count > maxFloodEvents && !(e.Phase == api.PhaseEnds && t.journal.IsActive(e.Kind, e.Subject)) {
		f.folded++
		t.folded++
		return
	}
	t.journal.Add(e)
}

// addFolded adds an event for the folded events of each window that has ended.
func (t *tracker) addFolded() {
	now := t.now()
	for key, r := range t.recent {
		if now.Sub(r.since) < flapWindow {
			continue
		}
		delete(t.recent, key)
		if r.folded == 0 {
			continue
		}
		e := r.foldedInto(r.last, now)
		e.Time = time.Time{}
		t.addUnlessFlood(e, now)
	}
	for kind, f := range t.floods {
		if now.Sub(f.since) < floodWindow {
			continue
		}
		delete(t.floods, kind)
		if f.folded > 0 {
			t.journal.Add(api.Event{Kind: kind, State: "more", Severity: api.EventWarning, Changes: f.folded,
				Cause: "the limit of events was reached",
				Sentence: fmt.Sprintf("%d more events of the kind %s in %.0f s: the limit of events was reached", f.folded, kind,
					now.Sub(f.since).Seconds())})
		}
	}
}
