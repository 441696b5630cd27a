package events

import (
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

const (
	// flapWindow is the time in which at most flapTold changes of one subject have separate events. The first begin of each
	// state, and its end, have separate events in addition.
	flapWindow = time.Minute
	flapTold   = 4
	// floodWindow is the time in which at most floodTold events of one kind have an event each.
	floodWindow = 10 * time.Second
	floodTold   = 200
)

// tracker turns states into events: one when a state begins, changes or ends. Too many events of one subject or kind
// are folded into one that counts them.
type tracker struct {
	journal *journal.Journal
	now     func() time.Time
	held    map[string]api.Event // what holds, by journal.Key: the event that began it
	recent  map[string]*recent
	floods  map[api.EventKind]*flood
	folded  uint64 // changes without an event of their own
}

// recent counts the events of one subject within flapWindow.
type recent struct {
	since time.Time
	seen  int       // events in the window
	more  int       // folded events since the last separate event
	last  api.Event // the last folded event: the last begin or end of a state, or else the last of all
	begun map[string]bool
	fresh bool // the last begin was the first of its state, and had an event beyond flapTold
}

// isFresh reports whether an event beyond flapTold is the first begin of a state, or ends the state of such a begin.
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

// foldedInto returns an event that stands for the folded events and e.
func (r *recent) foldedInto(e api.Event, now time.Time) api.Event {
	e.Changes = r.more
	e.Sentence = fmt.Sprintf("%d more changes in %.0f s; now %s", r.more, now.Sub(r.since).Seconds(), e.Sentence)
	r.more, r.last = 0, api.Event{}
	return e
}

// flood counts the events of one kind within floodWindow, as recent does.
type flood struct {
	since time.Time
	seen  int
	more  int
}

func newTracker(j *journal.Journal, now func() time.Time) *tracker {
	return &tracker{journal: j, now: now, held: j.Standing(), recent: map[string]*recent{},
		floods: map[api.EventKind]*flood{}}
}

// set takes the present state of a subject, which e names. holds is true for a state to be told, false for one that is
// as it should be. An event is made only of a change.
func (t *tracker) set(e api.Event, holds bool) {
	key := journal.Key(e.Kind, e.Subject)
	before, held := t.held[key]
	switch {
	case holds && (!held || before.State != e.State):
		e.Phase, e.Time = api.PhaseBegins, t.now()
		t.held[key] = e
	case !holds && held:
		e.Phase, e.Severity = api.PhaseEnds, api.EventInfo
		delete(t.held, key)
	default:
		return
	}
	t.tell(e)
}

// tell adds an event to the journal, or folds it if its subject has had too many.
func (t *tracker) tell(e api.Event) {
	now := t.now()
	key := journal.Key(e.Kind, e.Subject)
	r := t.recent[key]
	if r == nil {
		r = &recent{since: now, begun: map[string]bool{}}
		t.recent[key] = r
	}
	if r.seen++; r.seen <= flapTold {
		r.begun[e.State] = r.begun[e.State] || e.Phase == api.PhaseBegins
	} else if r.isFresh(&e) {
		if r.more > 0 {
			e = r.foldedInto(e, now)
		}
	} else {
		if isState := e.Phase == api.PhaseBegins || e.Phase == api.PhaseEnds; isState || r.last.Phase == "" {
			r.last = e
		}
		r.more++
		t.folded++
		return
	}
	t.add(e, now)
}

// add adds an event to the journal, or folds it in a flood of its kind. The end of a state that the journal has as
// begun is never folded.
func (t *tracker) add(e api.Event, now time.Time) {
	f := t.floods[e.Kind]
	if f == nil {
		f = &flood{since: now}
		t.floods[e.Kind] = f
	}
	if f.seen++; f.seen > floodTold && !(e.Phase == api.PhaseEnds && t.journal.Stands(e.Kind, e.Subject)) {
		f.more++
		t.folded++
		return
	}
	t.journal.Add(e)
}

// flush adds the events that stand for folded ones whose time is over.
func (t *tracker) flush() {
	now := t.now()
	for key, r := range t.recent {
		if now.Sub(r.since) < flapWindow {
			continue
		}
		delete(t.recent, key)
		if r.more == 0 {
			continue
		}
		e := r.foldedInto(r.last, now)
		e.Time = time.Time{}
		t.add(e, now)
	}
	for kind, f := range t.floods {
		if now.Sub(f.since) < floodWindow {
			continue
		}
		delete(t.floods, kind)
		if f.more > 0 {
			t.journal.Add(api.Event{Kind: kind, State: "more", Severity: api.EventWarning, Changes: f.more,
				Cause: "too many at once to tell each",
				Sentence: fmt.Sprintf("%d more events of the kind %s in %.0f s: too many at once to tell each", f.more, kind,
					now.Sub(f.since).Seconds())})
		}
	}
}
