package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Saving is batched: nothing waits for the disk, and a status that is lost with a crash is learned again in seconds.
const (
	// minSaveInterval is the least time between two batches.
	minSaveInterval = 2 * time.Second
	// maxBatch bounds a batch, so that one transaction stays in the milliseconds.
	maxBatch = 4096
	// latencyAge is the age at which a saved latency is worth a write of its own.
	latencyAge = 10 * time.Minute
	// maxDeletions bounds what is remembered for deletion while the disk is full. A record that is then left behind
	// is deleted after the next restart.
	maxDeletions = 1 << 16
)

// StatusStore keeps the records that must outlive the process.
type StatusStore interface {
	// SaveStatuses stores each record in the place of the one of the same backend, in one transaction. It may block; calls
	// do not overlap. On error nothing was stored, and the records will be passed again.
	SaveStatuses([]store.Status) error
}

// saving holds the records that wait to be saved, and those restored that nobody has asked for yet.
type saving struct {
	unsaved []*record
	deleted map[ID]struct{}
	// restored holds the records that New was given; waiting finds those in it that nobody has asked for.
	restored []store.Status
	unused   map[ID]int
	timer    deadlineAt
	// ready tells that a batch may be sent, busy that one is under way.
	ready, busy bool
	lastError   time.Time
}

// markUnsaved notes that r should be saved.
func (w *writer) markUnsaved(r *record) {
	if r.isUnsaved || r.isRemoved || w.options.Statuses == nil {
		return
	}
	r.isUnsaved = true
	w.saving.unsaved = append(w.saving.unsaved, r)
	w.scheduleSave()
}

// scheduleSave asks for a batch, not before the time has come.
func (w *writer) scheduleSave() {
	if !w.saving.ready && w.saving.timer == 0 {
		w.setDeadline(&w.saving, &w.saving.timer, w.options.Now().Add(minSaveInterval))
	}
}

// handleDeadline implements timed.
func (m *saving) handleDeadline(_ *writer, at deadlineAt, _ time.Time) {
	if m.timer == at {
		m.timer, m.ready = 0, true
	}
}

// saveOldLatency saves a backend now and then although nothing but its latency changes.
func (w *writer) saveOldLatency(r *record, now time.Time) {
	if r.savedAt == 0 || w.deadlineFor(now)-r.savedAt >= deadlineAt(latencyAge) {
		w.markUnsaved(r)
	}
}

// mustSave reports whether next must be saved because it differs from previous. What remember and claim.say save is
// not compared.
func mustSave(previous, next *Backend) bool {
	return previous.AgentID != next.AgentID || previous.Source != next.Source ||
		previous.isServable() != next.isServable() ||
		previous.Held != next.Held
}

// deleteStored notes that the saved record of r is to be deleted.
func (w *writer) deleteStored(r *record) {
	if r.isStored && w.options.Statuses != nil {
		w.queueDeletion(r.id)
	}
}

func (w *writer) queueDeletion(id ID) {
	if len(w.saving.deleted) < maxDeletions {
		w.saving.deleted[id] = struct{}{}
		w.scheduleSave()
	}
}

// emptyStatus returns an empty record of a backend.
func emptyStatus(id ID) store.Status {
	return store.Status{Service: id.Service, Address: id.Address, Port: id.Port}
}

// storedStatus returns the record of r to save. What nothing watches is saved as healthy: it serves, and so it does
// after a restart that switches checks on.
func (w *writer) storedStatus(r *record, now time.Time) store.Status {
	m := emptyStatus(r.id)
	m.Healthy, m.Unknown = r.lastKnown == check.StateHealthy, r.lastKnown == check.StateUnknown
	if r.report == nil && !w.isChecked(r) {
		m.Healthy, m.Unknown = true, false
	}
	m.Latency, m.At = r.published.OwnCheck.Latency, api.Moment(now.Round(0))
	m.LastHealthyAt, m.CreatedAt = api.Moment(r.published.LastHealthyAt.Round(0)),
		api.Moment(r.published.CreatedAt.Round(0))
	m.AgentSourced = r.source() == api.SourceAgent
	if r.published.isServable() {
		m.LastHealthyAt = m.At
	}
	m.AgentDrainSince, m.AgentDrainOver, m.AgentLeftAt = r.leftDrain.stored()
	if c := r.report; c != nil {
		m.AgentID, m.Weight, m.Region, m.Check, m.HeardAt = c.agent.id, c.weight, c.region, c.requestedCheck.Value(),
			c.agent.address
		if r.leftDrain == nil {
			m.AgentDrainSince, m.AgentDrainOver, _ = c.drain.stored()
		}
		m.Bleeds = storedWarnings(c.warnings)
	}
	if r.published.Held {
		for kind, to := range [status.ReportKinds]*time.Time{&m.HeldSince, &m.WarningHeldSince} {
			if b := w.holdOf(r, status.ReportKind(kind), now); b != nil {
				*to = b.Since.Round(0)
			}
		}
	}
	return m
}

// nextBatch takes the next records to be saved. Deletions come first, so that a backend that came back meanwhile stays.
func (w *writer) nextBatch(now time.Time) (out []store.Status) {
	m := &w.saving
	for id := range m.deleted {
		if len(out) >= maxBatch {
			return out
		}
		gone := emptyStatus(id)
		gone.Gone = true
		out = append(out, gone)
		delete(m.deleted, id)
	}
	taken := 0
	for _, r := range m.unsaved {
		if len(out) >= maxBatch {
			break
		}
		taken++
		r.isUnsaved = false
		if r.isRemoved {
			continue
		}
		r.isStored, r.savedAt = true, w.deadlineFor(now)
		out = append(out, w.storedStatus(r, now))
	}
	m.unsaved = m.unsaved[taken:]
	if len(m.unsaved) == 0 {
		m.unsaved = nil // or its memory would never be let go
	}
	return out
}

// requeueBatch takes a batch back that could not be stored.
func (w *writer) requeueBatch(batch []store.Status) {
	for _, m := range batch {
		id := ID{m.Service, m.Address, m.Port}
		r := w.lookupRecord(id)
		switch {
		case r != nil:
			w.markUnsaved(r)
		case m.Gone:
			w.queueDeletion(id)
		}
	}
}
