package registry

import (
	"time"
	"unique"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// restoreState restores the stored state. Agents are restored with reports without a state, as if they had been seen
// now. The state of other backends waits for their declarations. AdminStateExpired is called for expired admin states.
// An invalid record is logged and skipped.
func (w *writer) restoreState(now time.Time) {
	m := &w.saving
	m.deleted, m.unused = make(map[ID]struct{}), make(map[ID]int, len(w.options.Restored))
	m.restored = w.options.Restored
	for _, o := range w.options.AdminStates {
		if err := o.normalize(); err != nil {
			w.options.Logger.Error().Err(err).Msg("restoring an admin state failed, it is skipped")
			continue
		}
		w.restoreAdminState(o, now)
	}
	for i := range m.restored {
		id, err := NewID(m.restored[i].Service, m.restored[i].Address, m.restored[i].Port)
		if err != nil {
			w.options.Logger.Error().Err(err).Msg("restoring a backend status failed, it is skipped")
			continue
		}
		m.unused[id] = i
	}
	for i := range m.restored {
		r := &m.restored[i]
		if id, err := NewID(r.Service, r.Address, r.Port); err == nil && r.AgentSourced && w.isAllowed(r.AgentID, id) {
			w.refreshBackend(w.getOrCreateRecord(id, now), now)
		}
	}
	if len(m.unused) > 0 {
		w.setDeadline(&unusedExpiry{}, new(deadlineAt), now.Add(w.timing.RemoveAfter))
	}
	w.options.Restored, w.options.AdminStates = nil, nil
	w.publishChanges(now)
}

func (w *writer) isAllowed(agentID string, id ID) bool {
	return agentID != "" && w.options.Allowed(agentID, id)
}

// restoreRecord sets up a new record from its stored record, if it exists.
func (w *writer) restoreRecord(r *record, now time.Time) {
	at, found := w.saving.unused[r.id]
	if !found {
		return
	}
	delete(w.saving.unused, r.id)
	m := &w.saving.restored[at]
	r.isStored, r.savedAt = true, w.deadlineFor(now)
	if !m.Unknown {
		r.lastKnown = stateOf(m.Healthy)
	}
	r.isLastKnownOld = now.Sub(m.At).Abs() > latencyAge+w.timing.RemoveAfter
	r.published.LastHealthyAt, r.published.OwnCheck.Latency = m.LastHealthyAt, m.Latency
	if !m.CreatedAt.IsZero() {
		r.published.CreatedAt = restoredSince(m.CreatedAt, now)
	}
	w.restoreHold(r, status.ReportUnhealthy, m.HeldSince, now)
	w.restoreHold(r, status.ReportWarning, m.WarningHeldSince, now)
	drain := restoredDrain(m.AgentDrainSince, m.AgentDrainOver, m.AgentLeftAt, now)
	if drain != nil && !drain.leftAt.IsZero() {
		r.leftDrain, drain = drain, nil
	}
	if !w.isAllowed(m.AgentID, r.id) {
		return
	}
	a := w.getOrCreateAgent(m.AgentID)
	if !a.isPublished {
		a.lastSeen = now
		w.setDeadline(a, &a.timer, now.Add(w.timing.StaleThreshold))
	}
	if m.HeardAt.IsValid() {
		a.address = m.HeardAt
	}
	r.report = &report{agent: a, weight: min(max(m.Weight, 0), api.MaxWeight), region: m.Region,
		requestedCheck: unique.Make(m.Check)}
	r.report.drain = drain
	r.report.warnings, r.report.statement.warnings = restoredWarnings(m.Bleeds, now)
	w.deriveOwnCheck(r)
	a.records = append(a.records, r)
}

// restoreHold continues a hold that covered r before the restart. Until the first own check of r, the stored hold is
// treated as a successful check.
func (w *writer) restoreHold(r *record, kind status.ReportKind, since, now time.Time) {
	settings := w.options.Protection(r.service.name)
	if since.IsZero() || !settings.Enabled {
		return
	}
	r.wasHeld = true
	if now.Sub(since) >= settings.HoldTime { // a hold without a time limit
		return
	}
	b := &w.holdsOf(r.service)[kind]
	if !b.IsActive() {
		b.Begin(restoredSince(since, now))
		w.markDirty(r.service, false)
		w.publishHolds()
	}
}

// unusedExpiry is the deadline at which unused restored records are deleted.
type unusedExpiry struct{}

// handleDeadline implements deadlineHandler: it deletes the unused restored records.
func (*unusedExpiry) handleDeadline(w *writer, _ deadlineAt, _ time.Time) {
	for id := range w.saving.unused {
		w.queueDeletion(id)
	}
	w.saving.restored, w.saving.unused = nil, nil
}
