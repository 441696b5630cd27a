package registry

import (
	"container/heap"
	"slices"
	"time"
)

// tick is the resolution of deadlines. All deadlines within a tick are handled together: if 10,000 agents become silent
// within a second, the writer wakes up ten times. A deadline is handled at most one tick late.
const tick = 100 * time.Millisecond

// maxRefreshDelay is the maximum time to the deadline of a record. A removed record stays in the queue until its
// deadline. The maximum limits the memory of removed records if an agent continuously reports new backends.
const maxRefreshDelay = time.Minute

// deadlineAt is a time since the start of the registry. A set deadline is never zero.
type deadlineAt time.Duration

// deadlineHandler is an object of the writer with deadlines.
type deadlineHandler interface {
	// handleDeadline is called at a deadline. It must ignore replaced deadlines, which are also delivered.
	handleDeadline(w *writer, at deadlineAt, now time.Time)
}

type deadline struct {
	at      deadlineAt
	handler deadlineHandler
}

// deadlines is a heap with the earliest deadline first, for container/heap.
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

// deadlineFor returns the deadline for t, rounded up to a whole tick.
func (w *writer) deadlineFor(t time.Time) deadlineAt {
	since := t.Sub(w.start)
	return max(deadlineAt((since+tick-1)/tick*tick), 1)
}

// setDeadline makes the registry call handleDeadline of handler at t. set is the current deadline, or zero. An earlier
// deadline remains, and t replaces a later deadline.
func (w *writer) setDeadline(handler deadlineHandler, set *deadlineAt, t time.Time) {
	at := w.deadlineFor(t)
	if *set != 0 && *set <= at {
		return
	}
	*set = at
	heap.Push(&w.deadlines, deadline{at, handler})
}

// handleDeadlines handles all deadlines until now.
func (w *writer) handleDeadlines(now time.Time) {
	since := deadlineAt(now.Sub(w.start))
	for len(w.deadlines) > 0 && w.deadlines[0].at <= since {
		d := heap.Pop(&w.deadlines).(deadline)
		d.handler.handleDeadline(w, d.at, now)
	}
}

const (
	// maxSleep is the maximum sleep of the writer. It lets the writer notice a pause of the process.
	maxSleep = time.Second
	// maxLateness is the delay after which the registry assumes a pause of the process.
	maxLateness = time.Second
)

// sleepTime returns the time until the next deadline, at most maxSleep.
func (w *writer) sleepTime(now time.Time) time.Duration {
	wait := maxSleep
	if len(w.deadlines) > 0 {
		wait = min(wait, max(time.Duration(w.deadlines[0].at)-now.Sub(w.start), 0))
	}
	w.sleepEnd = now.Add(wait)
	return wait
}

// currentTime returns the time after sleep or work. After a pause of the process or the machine, it adds the pause to
// the last-seen time of all agents, because messages from the pause are still unread.
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
		Msg("this process or its machine was paused; the pause is not counted as silence of agents")
	return now
}

// minLateness is the minimum time by which a heartbeat is late.
const minLateness = time.Second

// latenessOf returns the silence after which the next heartbeat of an agent is late: its interval and a fifth of it.
// It is the stale threshold if this is shorter, or if the interval is unknown.
func (w *writer) latenessOf(a *agent) time.Duration {
	details := a.details.Load()
	if details == nil || details.state.Interval == 0 {
		return w.timing.StaleThreshold
	}
	interval := details.state.Interval
	return min(interval+max(interval/5, minLateness), w.timing.StaleThreshold)
}

// isLate reports whether the next heartbeat of an agent is late.
func (w *writer) isLate(a *agent, now time.Time) bool {
	return !now.Before(a.lastSeen.Add(w.latenessOf(a)))
}

// isStale reports whether an agent has been silent for the stale threshold.
func (w *writer) isStale(a *agent, now time.Time) bool {
	return !now.Before(a.lastSeen.Add(w.timing.StaleThreshold))
}

// isLost reports whether an agent has been silent for remove_after.
func (w *writer) isLost(a *agent, now time.Time) bool {
	return !now.Before(a.lastSeen.Add(w.timing.RemoveAfter))
}

// updateLastSeen sets the last-seen time of an agent to now. If the agent was stale, the caller refreshes its records.
func (w *writer) updateLastSeen(a *agent, now time.Time) {
	a.lastSeen = now
	a.wasLate, a.wasStale = false, false
	if !a.isPublished {
		w.agentIndex[a.id] = a
	}
	w.setDeadline(a, &a.timer, now.Add(w.latenessOf(a)))
}

// handleDeadline implements deadlineHandler: it checks whether the agent is silent. A heartbeat does not move the
// deadline.
func (a *agent) handleDeadline(w *writer, at deadlineAt, now time.Time) {
	if a.timer != at || w.agents[a.id] != a {
		return
	}
	a.timer = 0
	w.updateAgentState(a, now)
}

// updateAgentState reports a late agent, refreshes the records of an agent that became stale or lost, and sets the next
// deadline.
func (w *writer) updateAgentState(a *agent, now time.Time) {
	late, stale, gone := w.isLate(a, now), w.isStale(a, now), w.isLost(a, now)
	if late && !a.wasLate {
		w.reportLate(a, now)
	}
	switch {
	case !late:
		w.setDeadline(a, &a.timer, a.lastSeen.Add(w.latenessOf(a)))
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

// reportLate calls Options.AgentLate for each backend of an agent, at most once per stale threshold: the agent states
// the interval of its heartbeats, and must not select the rate of the own checks. An earlier report waits.
func (w *writer) reportLate(a *agent, now time.Time) {
	if earliest := a.lateReported.Add(w.timing.StaleThreshold); now.Before(earliest) {
		w.setDeadline(a, &a.timer, earliest)
		return
	}
	a.wasLate, a.lateReported = true, now
	for _, r := range a.records {
		w.options.AgentLate(r.id)
	}
}

// refreshReports refreshes all records of an agent. Removed records leave its list.
func (w *writer) refreshReports(a *agent, now time.Time) {
	for _, rec := range slices.Clone(a.records) {
		w.refreshBackend(rec, now)
	}
}
