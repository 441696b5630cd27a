package registry

import (
	"time"

	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// Saving is batched: nothing waits for the disk, and a status that is lost with a crash is learned again in seconds.
const (
	// saveEvery is the least time between two batches.
	saveEvery = 2 * time.Second
	// saveAtMost bounds a batch, so that one transaction stays in the milliseconds.
	saveAtMost = 4096
	// latencyAge is the age at which a saved latency is worth a write of its own.
	latencyAge = 10 * time.Minute
	// goneAtMost bounds what is remembered for deletion while the disk is full. A record that is then left behind
	// is deleted after the next restart.
	goneAtMost = 1 << 16
)

// StatusStore keeps the records that must outlive the process.
type StatusStore interface {
	// SaveStatuses stores each record in the place of the one of the same backend, in one transaction. It may block; calls
	// do not overlap. On error nothing was stored, and the records will be passed again.
	SaveStatuses([]store.Status) error
}

// memory holds the records that wait to be saved, and those restored that nobody has asked for yet.
type memory struct {
	unsaved []*record
	gone    map[ID]struct{}
	// restored holds the records that New was given; waiting finds those in it that nobody has asked for.
	restored []store.Status
	waiting  map[ID]int
	timer    deadlineAt
	// ready tells that a batch may be sent, busy that one is under way.
	ready, busy bool
	lastError   time.Time
}

// keep notes that r should be saved.
func (w *writer) keep(r *record) {
	if r.unsaved || r.removed || w.options.Statuses == nil {
		return
	}
	r.unsaved = true
	w.memory.unsaved = append(w.memory.unsaved, r)
	w.askToSave()
}

// askToSave asks for a batch, not before the time has come.
func (w *writer) askToSave() {
	if !w.memory.ready && w.memory.timer == 0 {
		w.wake(&w.memory, &w.memory.timer, w.options.Now().Add(saveEvery))
	}
}

// due implements timed.
func (m *memory) due(_ *writer, at deadlineAt, _ time.Time) {
	if m.timer == at {
		m.timer, m.ready = 0, true
	}
}

// keepLatency saves a backend now and then although nothing but its latency changes.
func (w *writer) keepLatency(r *record, now time.Time) {
	if r.savedAt == 0 || w.at(now)-r.savedAt >= deadlineAt(latencyAge) {
		w.keep(r)
	}
}

// worthKeeping reports whether next must be saved because it differs from previous. What remember and claim.say save is
// not compared.
func worthKeeping(previous, next *Backend) bool {
	return previous.AgentID != next.AgentID || previous.Source != next.Source || previous.fit() != next.fit() ||
		previous.Held != next.Held
}

// forgetStored notes that the saved record of r is to be deleted.
func (w *writer) forgetStored(r *record) {
	if r.stored && w.options.Statuses != nil {
		w.forgetID(r.id)
	}
}

func (w *writer) forgetID(id ID) {
	if len(w.memory.gone) < goneAtMost {
		w.memory.gone[id] = struct{}{}
		w.askToSave()
	}
}

// statusOf returns an empty record of a backend.
func statusOf(id ID) store.Status {
	return store.Status{Service: id.Service, Address: id.Address, Port: id.Port}
}

// snapshot returns the record of r to save. What nothing watches is saved as healthy: it serves, and so it does after a
// restart that switches checks on.
func (w *writer) snapshot(r *record, now time.Time) store.Status {
	m := statusOf(r.id)
	m.Healthy, m.Unknown = r.remembered == check.StateHealthy, r.remembered == check.StateUnknown
	if r.claim == nil && !w.checks(r) {
		m.Healthy, m.Unknown = true, false
	}
	m.Latency, m.At = r.pub.Validation.Latency, api.Moment(now.Round(0))
	m.LastHealthyAt, m.CreatedAt = api.Moment(r.pub.LastHealthyAt.Round(0)), api.Moment(r.pub.CreatedAt.Round(0))
	m.AgentSourced = r.source() == api.SourceAgent
	if r.pub.fit() {
		m.LastHealthyAt = m.At
	}
	m.AgentDrainSince, m.AgentDrainOver, m.AgentLeftAt = r.leftDrain.stored()
	if c := r.claim; c != nil {
		m.AgentID, m.Weight, m.Region, m.Check, m.HeardAt = c.agent.id, c.weight, c.region, c.asked.Value(), c.agent.address
		if r.leftDrain == nil {
			m.AgentDrainSince, m.AgentDrainOver, _ = c.drain.stored()
		}
		m.Bleeds = storedWarnings(c.warnings)
	}
	if r.pub.Held {
		for c, to := range [concerns]*time.Time{&m.HeldSince, &m.WarningHeldSince} {
			if b := w.holder(r, Concern(c), now); b != nil {
				*to = b.since.Round(0)
			}
		}
	}
	return m
}

// batch takes the next records to be saved. Deletions come first, so that a backend that came back meanwhile stays.
func (w *writer) batch(now time.Time) (out []store.Status) {
	m := &w.memory
	for id := range m.gone {
		if len(out) >= saveAtMost {
			return out
		}
		gone := statusOf(id)
		gone.Gone = true
		out = append(out, gone)
		delete(m.gone, id)
	}
	taken := 0
	for _, r := range m.unsaved {
		if len(out) >= saveAtMost {
			break
		}
		taken++
		r.unsaved = false
		if r.removed {
			continue
		}
		r.stored, r.savedAt = true, w.at(now)
		out = append(out, w.snapshot(r, now))
	}
	m.unsaved = m.unsaved[taken:]
	if len(m.unsaved) == 0 {
		m.unsaved = nil // or its memory would never be let go
	}
	return out
}

// failed takes a batch back that could not be stored.
func (w *writer) failed(batch []store.Status) {
	for _, m := range batch {
		id := ID{m.Service, m.Address, m.Port}
		r := w.lookup(id)
		switch {
		case r != nil:
			w.keep(r)
		case m.Gone:
			w.forgetID(id)
		}
	}
}
