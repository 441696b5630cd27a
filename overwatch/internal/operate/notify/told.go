package notify

import (
	"maps"
	"time"

	"gslb.internal/shared/api"
)

// Telling is the last that a target was told of something.
type Telling struct {
	State    string            `json:"state"`
	Phase    api.Phase         `json:"phase"`
	Severity api.EventSeverity `json:"severity"`
	ID       string            `json:"id"` // of the message
	Node     string            `json:"node"`
	At       time.Time         `json:"at"`
}

// forgetAfter is how long it is known that something was told that is over.
const forgetAfter = 24 * time.Hour

// told is what a target was told, by group and key.
type told map[string]map[string]Telling

// note takes what was told of a group, where it is newer than what is known, and reports whether it was.
func (t told) note(group string, tells map[string]Telling) (changed bool) {
	for key, telling := range tells {
		if known, seen := t[group][key]; seen && !telling.At.After(known.At) {
			continue
		}
		if t[group] == nil {
			t[group] = map[string]Telling{}
		}
		t[group][key] = telling
		changed = true
	}
	return changed
}

// coversFor is how long what does not last counts as told: the next of the same state is another.
const coversFor = 30 * time.Minute

// covers reports whether other nodes have told all of it already.
func (t told) covers(group, node string, tells map[string]Telling) bool {
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

// open reports whether a group has something that was told to begin and not to end, and the worst severity of that.
func (t told) open(group string) (severity api.EventSeverity, open bool) {
	for _, telling := range t[group] {
		if telling.Phase == api.PhaseBegins {
			severity, open = worse(severity, telling.Severity), true
		}
	}
	return severity, open
}

// forget drops what is over for a long time.
func (t told) forget(now time.Time) {
	for group, tells := range t {
		maps.DeleteFunc(tells, func(_ string, telling Telling) bool {
			return telling.Phase != api.PhaseBegins && now.Sub(telling.At) > forgetAfter
		})
		if len(tells) == 0 {
			delete(t, group)
		}
	}
}
