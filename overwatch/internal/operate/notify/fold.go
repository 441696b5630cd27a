package notify

import (
	"slices"

	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

// causesOf returns the keys of the states that include an event: the loss of its region and of its agent. The key of
// such a state is also the name of its group.
func causesOf(e *api.Event) (keys []string) {
	switch {
	case e.Kind == api.EventBackend && e.AgentID != "":
		keys = append(keys, journal.Key(api.EventAgent, e.AgentID))
		fallthrough
	case e.Kind == api.EventBackend, e.Kind == api.EventAgent:
		if e.Region != "" {
			keys = append(keys, journal.Key(api.EventRegion, e.Region))
		}
	}
	return keys
}

// dropIncludedEvents drops the waiting events of backends and agents that a loss includes, if the target was notified
// of the loss or the notification is queued. The notification of the loss describes these events. An event stays if the
// target was notified of the start of its state.
func (t *target) dropIncludedEvents() {
	t.Waiting = slices.DeleteFunc(t.Waiting, func(w waiting) bool {
		if t.Told[w.Group][keyOf(&w.Event)].Phase == api.PhaseBegins {
			return false
		}
		return slices.ContainsFunc(causesOf(&w.Event), t.isLossTold)
	})
}

// isLossTold reports whether the target was notified of the start of a loss, or the notification is queued. If the end
// of the loss is queued, the loss includes no further events.
func (t *target) isLossTold(key string) bool {
	state, _ := t.latest(key, key)
	return isLoss(state)
}

// isLoss reports whether a state of a region or an agent is a loss. Other states of agents, such as a rejected
// certificate, include no backends.
func isLoss(state string) bool {
	return state == conditions.StateLost || state == conditions.StateSilent || state == conditions.StatePartlyBack
}

// causes returns the groups of the losses that may include the waiting events of a group.
func (t *target) causes(group string) (keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.Waiting {
		if w := &t.Waiting[i]; w.Group == group {
			keys = append(keys, causesOf(&w.Event)...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
