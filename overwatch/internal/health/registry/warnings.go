package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/wire"
)

// storedWarnings returns the stored form of early warnings, with wall clock times. w may be nil.
func storedWarnings(w *status.Warnings) (stored [status.WarningKinds]store.Bleed) {
	if w == nil {
		return stored
	}
	for kind := range w {
		if r := &w[kind]; r.IsActive() {
			stored[kind] = store.Bleed{Over: r.Over, Depth: r.Depth, Since: r.Since.Round(0), Ended: r.Rising}
		}
	}
	return stored
}

// restoredWarnings returns the stored early warnings, which continue at their share, and the warnings that apply until
// the next report of the agent.
func restoredWarnings(stored [status.WarningKinds]store.Bleed, now time.Time) (*status.Warnings, wire.Warnings) {
	var all status.Warnings
	for kind, s := range stored {
		all[kind] = status.RestoredWarning(restoredSince(s.Since, now), s.Over, s.Depth, s.Ended)
	}
	if all == (status.Warnings{}) {
		return nil, wire.Warnings{}
	}
	return &all, all.Reported()
}

// updateWarnings updates the ramps of r to its agent's early warnings. Held warnings, and warnings of a stale agent,
// are treated as ended.
func (w *writer) updateWarnings(r *record, now time.Time) {
	c := r.report
	if c == nil {
		return
	}
	reported := c.statement.warnings
	if w.isStale(c.agent, now) || w.holdOf(r, status.ReportWarning, now) != nil {
		reported = wire.Warnings{}
	}
	if c.warnings == nil {
		if reported == (wire.Warnings{}) {
			return
		}
		c.warnings = new(status.Warnings)
	}
	before := *c.warnings
	c.warnings.Update(reported, now)
	if *c.warnings != before {
		w.markUnsaved(r)
	}
	if *c.warnings == (status.Warnings{}) {
		c.warnings = nil
	}
}
