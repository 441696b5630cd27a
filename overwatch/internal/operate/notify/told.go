package notify

import (
	"maps"
	"time"

	"gslb.internal/shared/api"
)

// Telling is the last state of a key that a target was told, with the message that told it.
type Telling struct {
	State    string            `json:"state"`
	Phase    api.Phase         `json:"phase"`
	Severity api.EventSeverity `json:"severity"`
	ID       string            `json:"id"` // of the message
	Node     string            `json:"node"`
	At       time.Time         `json:"at"`
}

// forgetAfter is the time after which the telling of a state that does not stand is forgotten.
const forgetAfter = 24 * time.Hour

// tellings holds the tellings to one target, by group and key.
type tellings map[string]map[string]Telling

// note keeps the tellings of a group that are newer than the known ones.
func (t tellings) note(group string, tells map[string]Telling) {
	for key, telling := range tells {
		if known, seen := t[group][key]; seen && !telling.At.After(known.At) {
			continue
		}
		if t[group] == nil {
			t[group] = map[string]Telling{}
		}
		t[group][key] = telling
	}
}

// coversFor is the time for which the telling of an event without an end also covers later events of the same state;
// after that they are told again.
const coversFor = 30 * time.Minute

// covers reports whether other nodes have told all of it to the target already.
func (t tellings) covers(group, node string, tells map[string]Telling) bool {
	for key, telling := range tells {
		known, seen := t[group][key]
		if !seen || known.Node == node || known.State != telling.State || known.Phase != telling.Phase {
			return false
		}
		if telling.Phase == api.PhaseOnce && telling.At.Sub(known.At) > coversFor {
			return false
		}
	}
	return true
}

// open reports whether a group has a state that was told as begun and not as ended, and returns the worst severity of
// these.
func (t tellings) open(group string) (severity api.EventSeverity, open bool) {
	for _, telling := range t[group] {
		if telling.Phase == api.PhaseBegins {
			severity, open = worse(severity, telling.Severity), true
		}
	}
	return severity, open
}

// forget drops the tellings that are older than forgetAfter, but for those of states that stand.
func (t tellings) forget(now time.Time) {
	for group, tells := range t {
		maps.DeleteFunc(tells, func(_ string, telling Telling) bool {
			return telling.Phase != api.PhaseBegins && now.Sub(telling.At) > forgetAfter
		})
		if len(tells) == 0 {
			delete(t, group)
		}
	}
}
