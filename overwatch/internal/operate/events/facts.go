package events

import (
	"fmt"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// lookAtAgents makes events of agents that have come since the start, have said goodbye, or are back after it. The
// silence of an agent is a condition instead.
func (w *watch) lookAtAgents() {
	for _, a := range w.o.View.Agents() {
		left := a.HasLeft()
		before, known := w.agents[a.ID]
		w.agents[a.ID] = left
		switch {
		case known && before == left:
		case left:
			w.tell(ofAgent(&a, "left", "it has said goodbye"))
		case known:
			w.tell(ofAgent(&a, "came", "it is heard again after its goodbye"))
		default:
			if since, pinned := w.o.Pinned(a.ID); pinned && since.After(w.began) {
				w.tell(ofAgent(&a, "came", "it is heard for the first time"))
			}
		}
	}
}

func ofAgent(a *registry.AgentState, state, cause string) api.Event {
	return api.Event{Kind: api.EventAgent, State: state, Severity: api.EventInfo, Subject: a.ID, Cause: cause,
		Sentence: fmt.Sprintf("agent %s in %s %s: %s", a.ID, region(a.Region), state, cause)}
}

// lookAtKeys makes events of keys that were made since the start, have changed their state, or are gone.
func (w *watch) lookAtKeys() {
	if w.o.Keys == nil {
		return
	}
	now := map[string]string{}
	for _, k := range w.o.Keys() {
		subject := fmt.Sprintf("%s %d", k.Zone(), k.Tag())
		state := string(k.State)
		now[subject] = state
		before, known := w.keys[subject]
		made := !known && (w.keys != nil || k.Created().After(w.began))
		if made || known && before != state {
			w.tell(ofKey(subject, state, before))
		}
	}
	for subject, before := range w.keys {
		if now[subject] == "" {
			w.tell(ofKey(subject, "gone", before))
		}
	}
	w.keys = now
}

func ofKey(subject, state, before string) api.Event {
	cause := "it was made here, or taken from another node"
	if before != "" {
		cause = "it was " + before
	}
	return api.Event{Kind: api.EventKey, State: state, Severity: api.EventInfo, Subject: subject, Cause: cause,
		Sentence: fmt.Sprintf("the signing key %s is %s: %s", subject, state, cause)}
}

// lookAtRolls makes events of the stages of rollovers at which the parent zone must change its DS records, and of zones
// that become unsigned or signed.
func (w *watch) lookAtRolls() {
	if w.o.Rolls == nil {
		return
	}
	now := map[string]bool{}
	for _, r := range w.o.Rolls() {
		e, tells := ofRoll(&r)
		if !tells {
			continue
		}
		told := e.Subject + " " + e.State
		now[told] = true
		if !w.offered[told] && (w.offered != nil || r.Since.After(w.began)) {
			w.tell(e)
		}
	}
	w.offered = now
}

// ofRoll returns the event of a rollover's stage; tells is false where there is none.
func ofRoll(r *dnssec.RollState) (e api.Event, tells bool) {
	of := func(state, cause, sentence string) (api.Event, bool) {
		return api.Event{Kind: api.EventKey, State: state, Severity: api.EventWarning, Cause: cause, Subject: r.Zone,
			Sentence: sentence + ": " + cause}, true
	}
	switch {
	case r.Way == roll.ToUnsigned && r.Stage == roll.Offered:
		return of("ds_removed", "the zone goes without signatures", "the parent of "+r.Zone+" is to have no DS record")
	case r.Way == roll.ToUnsigned:
		return of("unsigned", "no cache has a DS record", "the answers of "+r.Zone+" are not signed")
	case r.Way == roll.ToSigned && r.Stage == roll.Published:
		return of("signed", "an operator said so", "the answers of "+r.Zone+" are signed again, and its parent is to have "+
			"no DS record yet")
	case r.Way == roll.ToSigned && r.Stage == roll.Offered:
		return of("ds_offered", "unsigned answers have left all caches", "the parent of "+r.Zone+" is to have what gslbctl "+
			"dnssec ds shows")
	case r.Stage != roll.Offered || r.Target == nil:
		return api.Event{}, false
	}
	return ofDS(r), true
}

func ofDS(r *dnssec.RollState) api.Event {
	const cause = "every cache knows the new key by now"
	return api.Event{Kind: api.EventKey, State: "ds_offered", Severity: api.EventWarning, Cause: cause,
		Subject: fmt.Sprintf("%s %d", r.Zone, r.Target.Tag()),
		Sentence: fmt.Sprintf("the parent of %s is to have this DS record and no other: %s: %s", r.Zone, r.Target.DSLine(),
			cause)}
}
