package registry

import (
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// The registry stores records in batches. Commands do not wait for the disk: if a crash loses a status, reports and
// checks restore it within seconds.
const (
	// minSaveInterval is the minimum time between two batches.
	minSaveInterval = 2 * time.Second
	// maxBatch is the maximum number of records in a batch, so that a transaction takes milliseconds.
	maxBatch = 4096
	// latencyAge is the age after which a latency is stored without another change.
	latencyAge = 10 * time.Minute
	// maxDeletions is the maximum length of the queue of deletions, for a full disk. Remaining records are deleted after
	// the next restart.
	maxDeletions = 1 << 16
)

// StatusStore stores the records that must survive a restart.
type StatusStore interface {
	// SaveStatuses stores records in one transaction, each replacing the record of the same backend. It may block; calls
	// do not overlap. After an error, no record is stored, and the registry retries.
	SaveStatuses([]store.Status) error
}

// saving has the queues of records to store, and the restored records that no source has used.
type saving struct {
	unsaved []*record
	deleted map[ID]struct{}
	// restored are the records of Options.Restored; unused has the indexes of the records that no source has used.
	restored []store.Status
	unused   map[ID]int
	timer    deadlineAt
	// ready reports whether a batch may be sent, busy whether a batch is being stored.
	ready, busy bool
	lastError   time.Time
}

// markUnsaved queues r for storage.
func (w *writer) markUnsaved(r *record) {
	if r.isUnsaved || r.isRemoved || w.options.Statuses == nil {
		return
	}
	r.isUnsaved = true
	w.saving.unsaved = append(w.saving.unsaved, r)
	w.scheduleSave()
}

// scheduleSave schedules the next batch after minSaveInterval.
func (w *writer) scheduleSave() {
	if !w.saving.ready && w.saving.timer == 0 {
		w.setDeadline(&w.saving, &w.saving.timer, w.options.Now().Add(minSaveInterval))
	}
}

// handleDeadline implements deadlineHandler: a batch may be sent.
func (m *saving) handleDeadline(_ *writer, at deadlineAt, _ time.Time) {
	if m.timer == at {
		m.timer, m.ready = 0, true
	}
}

// saveOldLatency queues r for storage if its stored latency is old.
func (w *writer) saveOldLatency(r *record, now time.Time) {
	if r.savedAt == 0 || w.deadlineFor(now)-r.savedAt >= deadlineAt(latencyAge) {
		w.markUnsaved(r)
	}
}

// mustSave reports whether next must be stored because it differs from previous. Other fields are queued by
// updateLastKnown and report.setStatement.
func mustSave(previous, next *Backend) bool {
	return previous.AgentID != next.AgentID || previous.Source != next.Source ||
		previous.isServable() != next.isServable() ||
		previous.Held != next.Held
}

// deleteStored queues the deletion of the stored record of r.
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

// storedStatus returns the record of r to store. An unmonitored backend is stored as healthy, so that it serves after a
// restart that enables own checks.
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

// nextBatch removes the next records from the queues. Deletions precede records, so that a backend that returned is
// stored.
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
	done := 0
	for _, r := range m.unsaved {
		if len(out) >= maxBatch {
			break
		}
		done++
		r.isUnsaved = false
		if r.isRemoved {
			continue
		}
		r.isStored, r.savedAt = true, w.deadlineFor(now)
		out = append(out, w.storedStatus(r, now))
	}
	m.unsaved = m.unsaved[done:]
	if len(m.unsaved) == 0 {
		m.unsaved = nil // releases the memory
	}
	return out
}

// requeueBatch returns a failed batch to the queues.
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
