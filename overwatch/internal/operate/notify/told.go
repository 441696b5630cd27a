package notify

import (
	"maps"
	"time"

	"gslb.internal/shared/api"
)

// Telling is the last state of a key in a message to a target, with the ID of the message.
type Telling struct {
	State    string            `json:"state"`
	Phase    api.Phase         `json:"phase"`
	Severity api.EventSeverity `json:"severity"`
	ID       string            `json:"id"` // of the message
	Node     string            `json:"node"`
	At       time.Time         `json:"at"`
	Before   []Past            `json:"before,omitempty"` // earlier states, latest first, at most maxPast
}

// Past is an earlier state of a key in a message to a target.
type Past struct {
	State string        `json:"state"`
	Phase api.Phase     `json:"phase"`
	Node  string        `json:"node"`
	Ago   time.Duration `json:"ago"` // time between this state and the At of its Telling
}

const (
	// maxPast bounds the number of earlier states of a Telling.
	maxPast = 4
	// lateFor is the maximum delay with which another node detects a state. An earlier state covers the same state of a
	// node within this time. lateFor exceeds the time difference between the checks of two nodes.
	lateFor = 2 * time.Minute
)

// after returns t with the states of the previous telling, unless t already contains earlier states.
func (t Telling) after(before Telling) Telling {
	if t.Before != nil || before.State == "" {
		return t
	}
	gap := t.At.Sub(before.At)
	t.Before = append(t.Before, Past{before.State, before.Phase, before.Node, gap})
	for _, p := range before.Before[:min(len(before.Before), maxPast-1)] {
		p.Ago += gap
		t.Before = append(t.Before, p)
	}
	return t
}

// saw reports whether another node sent the same state to the target within lateFor before telling.
func (t Telling) saw(node string, telling Telling) bool {
	for _, p := range t.Before {
		if p.Node != node && p.State == telling.State && p.Phase == telling.Phase && telling.At.Sub(t.At)+p.Ago <= lateFor {
			return true
		}
	}
	return false
}

// forgetAfter is the time after which the telling of an ended state is deleted. Until then, all messages about the
// state have different IDs.
const forgetAfter = 7 * 24 * time.Hour

// tellings contains the tellings of a target, by group and key.
type tellings map[string]map[string]Telling

// addNewer stores tellings about a group that are newer than the stored tellings.
func (t tellings) addNewer(group string, tells map[string]Telling) {
	for key, telling := range tells {
		if known, seen := t[group][key]; seen && !telling.At.After(known.At) {
			continue
		}
		if _, seen := t[group][key]; !seen && len(t[group]) >= maxTells {
			continue
		}
		if t[group] == nil {
			t[group] = map[string]Telling{}
		}
		t[group][key] = telling.after(t[group][key])
	}
}

// coversFor is the time for which the telling of an event without an end also covers later events of the same state.
// After coversFor, the target is notified of such events.
const coversFor = 30 * time.Minute

// hasAllSent reports whether other nodes have sent all of tells to the target.
func (t tellings) hasAllSent(group, node string, tells map[string]Telling) bool {
	for key, telling := range tells {
		known, seen := t[group][key]
		if !seen {
			return false
		}
		if known.saw(node, telling) && known.State != telling.State {
			continue
		}
		if known.Node == node || known.State != telling.State || known.Phase != telling.Phase {
			return false
		}
		if telling.Phase == api.PhaseOnce && telling.At.Sub(known.At) > coversFor {
			return false
		}
	}
	return true
}

// open reports whether the target was notified of the start of a state of the group, but not of its end. It returns the
// highest severity of such states.
func (t tellings) open(group string) (severity api.EventSeverity, open bool) {
	for _, telling := range t[group] {
		if telling.Phase == api.PhaseBegins {
			severity, open = worse(severity, telling.Severity), true
		}
	}
	return severity, open
}

// deleteOld deletes tellings older than forgetAfter, except the tellings of active states.
func (t tellings) deleteOld(now time.Time) {
	for group, tells := range t {
		maps.DeleteFunc(tells, func(_ string, telling Telling) bool {
			return telling.Phase != api.PhaseBegins && now.Sub(telling.At) > forgetAfter
		})
		if len(tells) == 0 {
			delete(t, group)
		}
	}
}
