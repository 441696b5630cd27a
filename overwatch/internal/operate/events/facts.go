package events

import (
	"fmt"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// updateAgents adds events for agents that are new since the start, have left, or have returned. Silent agents have a
// condition.
func (w *watch) updateAgents() {
	for a := range w.o.View.EachAgent() {
		left := a.HasLeft()
		before, known := w.agents[a.ID]
		w.agents[a.ID] = left
		switch {
		case known && before == left:
		case left:
			w.addEvent(agentEvent(a, "left", "it sent its goodbye"))
		case known:
			w.addEvent(agentEvent(a, "came", "it reports after its goodbye"))
		default:
			if since, pinned := w.o.IsPinned(a.ID); pinned && since.After(w.startedAt) {
				w.addEvent(agentEvent(a, "came", "it reports for the first time"))
			}
		}
	}
}

func agentEvent(a *registry.AgentState, state, cause string) api.Event {
	return api.Event{Kind: api.EventAgent, State: state, Severity: api.EventInfo, Subject: a.ID, Cause: cause,
		Sentence: fmt.Sprintf("agent %s in %s %s: %s", a.ID, region(a.Region), state, cause)}
}

// updateKeys adds events for keys that are new since the start, have changed their state, or were removed.
func (w *watch) updateKeys() {
	if w.o.Keys == nil {
		return
	}
	now := map[string]string{}
	for _, k := range w.o.Keys() {
		subject := fmt.Sprintf("%s %d", k.Zone(), k.Tag())
		state := string(k.State)
		now[subject] = state
		before, known := w.keys[subject]
		made := !known && (w.keys != nil || k.Created().After(w.startedAt))
		if made || known && before != state {
			w.addEvent(keyEvent(subject, state, before))
		}
	}
	for subject, before := range w.keys {
		if now[subject] == "" {
			w.addEvent(keyEvent(subject, "gone", before))
		}
	}
	w.keys = now
}

func keyEvent(subject, state, before string) api.Event {
	cause := "this node created it, or received it from another node"
	if before != "" {
		cause = "it was " + before
	}
	return api.Event{Kind: api.EventKey, State: state, Severity: api.EventInfo, Subject: subject, Cause: cause,
		Sentence: fmt.Sprintf("signing key %s is %s: %s", subject, state, cause)}
}

// updateRollovers adds events for rollover stages that require a change of the DS records in the parent zone, and for
// zones that become unsigned or signed.
func (w *watch) updateRollovers() {
	if w.o.Rollovers == nil {
		return
	}
	now := map[string]bool{}
	for _, r := range w.o.Rollovers() {
		e, isEvent := rolloverEvent(&r)
		if !isEvent {
			continue
		}
		key := e.Subject + " " + e.State
		now[key] = true
		if !w.rolloverEvents[key] && (w.rolloverEvents != nil || r.Since.After(w.startedAt)) {
			w.addEvent(e)
		}
	}
	w.rolloverEvents = now
}

// rolloverEvent returns the event of a rollover stage. isEvent is false for a stage without an event.
func rolloverEvent(r *dnssec.RollState) (e api.Event, isEvent bool) {
	of := func(state, cause, sentence string) (api.Event, bool) {
		return api.Event{Kind: api.EventKey, State: state, Severity: api.EventWarning, Cause: cause, Subject: r.Zone,
			Sentence: sentence + ": " + cause}, true
	}
	switch {
	case r.Goal == roll.ToUnsigned && r.Stage == roll.Offered:
		return of("ds_removed", "the zone becomes unsigned", "the parent of "+r.Zone+" must remove all DS records")
	case r.Goal == roll.ToUnsigned:
		return of("unsigned", "the DS records have expired in all caches", "answers of "+r.Zone+" are unsigned")
	case r.Goal == roll.ToSigned && r.Stage == roll.Published:
		return of("signed", "an operator requested it", "answers of "+r.Zone+" are signed, its parent must not have "+
			"a DS record yet")
	case r.Goal == roll.ToSigned && r.Stage == roll.Offered:
		return of("ds_offered", "unsigned answers have expired in all caches",
			"the parent of "+r.Zone+" must add the DS record "+
				"of gslbctl dnssec ds")
	case r.Stage != roll.Offered || r.Target == nil:
		return api.Event{}, false
	}
	return dsEvent(r), true
}

func dsEvent(r *dnssec.RollState) api.Event {
	const cause = "all caches have the new key"
	return api.Event{Kind: api.EventKey, State: "ds_offered", Severity: api.EventWarning, Cause: cause,
		Subject: fmt.Sprintf("%s %d", r.Zone, r.Target.Tag()),
		Sentence: fmt.Sprintf("the parent of %s must have only this DS record: %s: %s", r.Zone, r.Target.DSLine(),
			cause)}
}
