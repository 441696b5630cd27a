package registry

import (
	"container/heap"
	"slices"
	"time"
)

// tick is the grain of the writer's timers: deadlines within one tick are met together, so ten thousand agents that
// fall silent in one second wake it ten times. Whatever depends on time happens at most this late.
const tick = 100 * time.Millisecond

// maxRefreshDelay bounds how far ahead the deadline of a record is set. A record that is removed stays in the queue
// until its deadline: of an agent that claims ever new backends, the removed ones of a minute are in memory, and not
// those of the hour that may pass between two steps of a drain.
const maxRefreshDelay = time.Minute

// deadlineAt is a moment as the time since the registry's start, never zero for a deadline that is set.
type deadlineAt time.Duration

// deadlineHandler is something of the writer's that depends on time.
type deadlineHandler interface {
	// handleDeadline is called when the deadline at has come. Deadlines that were replaced come too; due ignores them.
	handleDeadline(w *writer, at deadlineAt, now time.Time)
}

type deadline struct {
	at      deadlineAt
	handler deadlineHandler
}

// deadlines is a heap with the next deadline first, for container/heap.
type deadlines []deadline

func (q deadlines) Len() int           { return len(q) }
func (q deadlines) Less(i, j int) bool { return q[i].at < q[j].at }
func (q deadlines) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *deadlines) Push(d any)        { *q = append(*q, d.(deadline)) }

// Pop removes the last entry.
func (q *deadlines) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	(*q)[last] = deadline{}
	*q = (*q)[:last]
	return d
}

// deadlineFor returns the deadline for t: the next whole tick that is not before it.
func (w *writer) deadlineFor(t time.Time) deadlineAt {
	since := t.Sub(w.start)
	return max(deadlineAt((since+tick-1)/tick*tick), 1)
}

// setDeadline has the due method of its first argument called at t. set holds the deadline already set for it, zero for
// none: an earlier one stays, a later one is replaced.
func (w *writer) setDeadline(what deadlineHandler, set *deadlineAt, t time.Time) {
	at := w.deadlineFor(t)
	if *set != 0 && *set <= at {
		return
	}
	*set = at
	heap.Push(&w.deadlines, deadline{at, what})
}

// handleDeadlines calls due for every deadline that has come.
func (w *writer) handleDeadlines(now time.Time) {
	since := deadlineAt(now.Sub(w.start))
	for len(w.deadlines) > 0 && w.deadlines[0].at <= since {
		d := heap.Pop(&w.deadlines).(deadline)
		d.handler.handleDeadline(w, d.at, now)
	}
}

const (
	// maxSleep bounds the writer's sleep, so that it notices when it was kept from running.
	maxSleep = time.Second
	// maxLateness is the delay in waking, or the time at work, from which on the writer counts as kept from running.
	maxLateness = time.Second
)

// sleepTime returns how long the writer may sleep from now on.
func (w *writer) sleepTime(now time.Time) time.Duration {
	wait := maxSleep
	if len(w.deadlines) > 0 {
		wait = min(wait, max(time.Duration(w.deadlines[0].at)-now.Sub(w.start), 0))
	}
	w.sleepEnd = now.Add(wait)
	return wait
}

// currentTime returns the time, after rest or after work. If that is far too late, this process or its machine has
// stood still: the agents could not be heard, so the delay does not count as their silence. What they have sent
// meanwhile waits to be read.
func (w *writer) currentTime() time.Time {
	now, due := w.options.Now(), w.sleepEnd
	w.sleepEnd = now
	late := now.Sub(due)
	if due.IsZero() || late <= maxLateness {
		return now
	}
	for _, a := range w.agents {
		a.lastSeen = a.lastSeen.Add(late)
	}
	w.options.Logger.Warn().Stringer("for", late.Round(time.Millisecond)).Int("agents", len(w.agents)).
		Msg("this process, or its machine, has stood still: that time does not count as silence of agents")
	return now
}

// isStale reports whether an agent has been silent for the stale threshold, gone whether for remove_after.
func (w *writer) isStale(a *agent, now time.Time) bool {
	return !now.Before(a.lastSeen.Add(w.timing.StaleThreshold))
}
func (w *writer) isLost(a *agent, now time.Time) bool {
	return !now.Before(a.lastSeen.Add(w.timing.RemoveAfter))
}

// updateLastSeen notes that an agent has spoken: its claims are fresh again. If they were not, the caller looks at
// each.
func (w *writer) updateLastSeen(a *agent, now time.Time) {
	a.lastSeen = now
	a.wasStale = false
	if !a.isPublished {
		w.agentIndex[a.id] = a
	}
	w.setDeadline(a, &a.timer, now.Add(w.timing.StaleThreshold))
}

// handleDeadline implements timed: the agent has perhaps been silent for too long. A heartbeat does not move the
// deadline, it is looked at when it comes.
func (a *agent) handleDeadline(w *writer, at deadlineAt, now time.Time) {
	if a.timer != at || w.agents[a.id] != a {
		return
	}
	a.timer = 0
	w.updateAgentState(a, now)
}

// updateAgentState refreshes an agent's claims if it has become stale or gone, and sets the deadline for the next of
// the two.
func (w *writer) updateAgentState(a *agent, now time.Time) {
	stale, gone := w.isStale(a, now), w.isLost(a, now)
	switch {
	case !stale:
		w.setDeadline(a, &a.timer, a.lastSeen.Add(w.timing.StaleThreshold))
	case !gone:
		w.setDeadline(a, &a.timer, a.lastSeen.Add(w.timing.RemoveAfter))
	}
	if stale == a.wasStale && gone == a.wasLost {
		return
	}
	a.wasStale, a.wasLost = stale, gone
	w.refreshReports(a, now)
}

// refreshReports derives everything that the agent claims anew. Those that are removed by that leave the agent's list.
func (w *writer) refreshReports(a *agent, now time.Time) {
	for _, rec := range slices.Clone(a.records) {
		w.refreshBackend(rec, now)
	}
}
