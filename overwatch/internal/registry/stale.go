package registry

import (
	"slices"
	"time"
)

// heard notes that an agent has spoken: its claims are fresh again. If they were not, the caller looks at each.
func (w *writer) heard(a *agent, now time.Time) {
	a.seen = now
	a.stale, a.gone = false, false
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

// judgeAgent decides whether an agent is stale or gone, and looks at what it claims if that changed.
func (w *writer) judgeAgent(a *agent, now time.Time) {
	staleAt, goneAt := a.seen.Add(w.timing.StaleThreshold), a.seen.Add(w.timing.RemoveAfter)
	stale, gone := !now.Before(staleAt), !now.Before(goneAt)
	switch {
	case !stale:
		w.wake(a, &a.timer, staleAt)
	case !gone:
		w.wake(a, &a.timer, goneAt)
	}
	if stale == a.stale && gone == a.gone {
		return
	}
	a.stale, a.gone = stale, gone
	w.refreshClaims(a, now)
}

// refreshClaims derives everything that the agent claims anew. Those that are removed by that leave the agent's list.
func (w *writer) refreshClaims(a *agent, now time.Time) {
	for _, rec := range slices.Clone(a.claims) {
		w.refresh(rec, now)
	}
}
