package registry

import "time"

const (
	// longestRest is how long the writer sleeps at most, so that it notices when it was kept from running.
	longestRest = time.Second
	// maxLateness is how late it may wake, or how long it may be at work, without that meaning anything.
	maxLateness = time.Second
)

// rest returns how long the writer may sleep from now on.
func (w *writer) rest(now time.Time) time.Duration {
	wait := longestRest
	if len(w.deadlines) > 0 {
		wait = min(wait, max(time.Duration(w.deadlines[0].at)-now.Sub(w.start), 0))
	}
	w.wakes = now.Add(wait)
	return wait
}

// awake returns the time, after rest or after work. If that is far too late, this process, or its machine, has stood
// still: nobody could be heard, so that is not the agents' silence. What they have sent meanwhile waits to be read.
func (w *writer) awake() time.Time {
	now, due := w.options.Now(), w.wakes
	w.wakes = now
	late := now.Sub(due)
	if due.IsZero() || late <= maxLateness {
		return now
	}
	for _, a := range w.agents {
		a.seen = a.seen.Add(late)
	}
	w.options.Logger.Warn().Stringer("for", late.Round(time.Millisecond)).Int("agents", len(w.agents)).
		Msg("this process, or its machine, has stood still: that time does not count as silence of agents")
	return now
}
