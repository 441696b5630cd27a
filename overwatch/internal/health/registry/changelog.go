package registry

import (
	"time"

	"github.com/rs/zerolog"
)

// Rate limits of the log lines about changes of a status.
const (
	// changesAtOnce is the maximum number of changes of a backend that are logged immediately within quietFor: a start, a
	// failure and a recovery. The log counts further changes, and a line each quietFor contains their number.
	changesAtOnce = 3
	quietFor      = 30 * time.Second
	// linesAtOnce is the maximum number of lines within linesEvery. A further line contains the number of suppressed
	// lines.
	linesAtOnce = 20
	linesEvery  = time.Second
)

// changeLog limits the log lines about changes.
type changeLog struct {
	noisy      map[*record]*changeCount
	since      time.Time
	lines      int
	suppressed int
	timer      deadlineAt
}

// changeCount counts the changes of a backend within quietFor.
type changeCount struct {
	record *record
	logged int // changes with an immediate line
	count  int // changes since the last line
	timer  deadlineAt
}

// logChange logs a change of the status or of the serving state of r, within the limits.
func (w *writer) logChange(r *record, now time.Time) {
	n := w.changes.noisy[r]
	if n == nil {
		n = &changeCount{record: r}
		w.changes.noisy[r] = n
		w.setDeadline(n, &n.timer, now.Add(quietFor))
	}
	if n.logged == changesAtOnce {
		n.count++
		return
	}
	n.logged++
	if e := w.newLogLine(now); e != nil {
		addBackendFields(e, r).Msg("backend changed")
	}
}

// handleDeadline implements deadlineHandler: it logs the number of changes within quietFor.
func (n *changeCount) handleDeadline(w *writer, _ deadlineAt, now time.Time) {
	if n.count == 0 || n.record.isRemoved {
		delete(w.changes.noisy, n.record)
		return
	}
	if e := addBackendFields(w.newLogLine(now), n.record); n.count == 1 {
		e.Msg("backend changed")
	} else {
		e.Int("changes", n.count).Stringer("within", quietFor).Msg("backend changed several times")
	}
	n.count, n.timer = 0, 0
	w.setDeadline(n, &n.timer, now.Add(quietFor))
}

func addBackendFields(e *zerolog.Event, r *record) *zerolog.Event {
	return e.Stringer("backend", r.id).Str("status", string(r.published.Status)).Bool("may_serve", r.published.MayServe).
		Str("reason", r.published.Reason)
}

// newLogLine returns a log event, or nil above the limit of lines.
func (w *writer) newLogLine(now time.Time) *zerolog.Event {
	c := &w.changes
	if now.Sub(c.since) >= linesEvery {
		c.since, c.lines = now, 0
	}
	if c.lines == linesAtOnce {
		c.suppressed++
		w.setDeadline(c, &c.timer, c.since.Add(linesEvery))
		return nil
	}
	c.lines++
	return w.options.Logger.Info()
}

// handleDeadline implements deadlineHandler: it logs the number of suppressed lines.
func (c *changeLog) handleDeadline(w *writer, at deadlineAt, _ time.Time) {
	if c.timer != at {
		return
	}
	c.timer = 0
	w.options.Logger.Info().Int("backends", c.suppressed).Msg("more backends changed; their log lines are suppressed")
	c.suppressed = 0
}

// logRefusals logs an agent's rejected backends, at most once a minute for each agent.
func (w *writer) logRefusals(a *agent, now time.Time) {
	const every = time.Minute
	if len(a.refused) == 0 || !a.refusalsLogged.IsZero() && now.Sub(a.refusalsLogged) < every {
		return
	}
	a.refusalsLogged = now
	first := a.refused[0]
	w.options.Logger.Warn().Str("agent", a.id).Int("refused", len(a.refused)).Str("service", first.Service).
		Stringer("address", first.Address).Uint16("port", first.Port).Stringer("code", first.Code).
		Str("rule", first.Rule.String()).Msg("backends of an agent were rejected; this is the first")
}
