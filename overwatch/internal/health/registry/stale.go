package registry

import (
	"slices"
	"time"
)

// stale reports whether an agent has been silent for the stale threshold, gone whether for remove_after.
func (w *writer) stale(a *agent, now time.Time) bool {
	return !now.Before(a.seen.Add(w.timing.StaleThreshold))
}
func (w *writer) gone(a *agent, now time.Time) bool {
	return !now.Before(a.seen.Add(w.timing.RemoveAfter))
}

// heard notes that an agent has spoken: its claims are fresh again. If they were not, the caller looks at each.
func (w *writer) heard(a *agent, now time.Time) {
	a.seen = now
	a.wasStale = false
	if !a.listed {
		w.agentIndex[a.id] = a
	}
	w.wake(a, &a.timer, now.Add(w.timing.StaleThreshold))
}

// due implements timed: the agent has perhaps been silent for too long. A heartbeat does not move the deadline, it is
// looked at when it comes.
func (a *agent) due(w *writer, at deadlineAt, now time.Time) {
	if a.timer != at || w.agents[a.id] != a {
		return
	}
	a.timer = 0
	w.judgeAgent(a, now)
}

// judgeAgent looks at what an agent claims if it has become stale or gone, and asks to be woken when it may.
func (w *writer) judgeAgent(a *agent, now time.Time) {
	stale, gone := w.stale(a, now), w.gone(a, now)
	switch {
	case !stale:
		w.wake(a, &a.timer, a.seen.Add(w.timing.StaleThreshold))
	case !gone:
		w.wake(a, &a.timer, a.seen.Add(w.timing.RemoveAfter))
	}
	if stale == a.wasStale && gone == a.wasGone {
		return
	}
	a.wasStale, a.wasGone = stale, gone
	w.refreshClaims(a, now)
}

// refreshClaims derives everything that the agent claims anew. Those that are removed by that leave the agent's list.
func (w *writer) refreshClaims(a *agent, now time.Time) {
	for _, rec := range slices.Clone(a.claims) {
		w.refresh(rec, now)
	}
}
