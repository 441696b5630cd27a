package registry

import (
	"net/netip"
	"time"

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

// Remembered is the state of one backend that outlives the process. Times are wall-clock times.
type Remembered struct {
	ID ID
	// Gone asks the store to delete the record of ID; nothing else is set then.
	Gone bool
	// Healthy says whether the backend might serve by the last evidence, override and drain aside. Unknown means that
	// there never was any evidence.
	Healthy, Unknown bool
	// Latency is that of this node's last check, 0 when unknown; At is when this record was made.
	Latency time.Duration
	At      time.Time
	// LastHealthyAt and CreatedAt are those of Backend.
	LastHealthyAt, CreatedAt time.Time
	// AgentID is the agent that claims the backend, "" for none; then Weight, Region and Check are what it said, and
	// HeardAt is the address that the agent was heard from, if that is proved.
	// AgentSourced tells that nothing but the agent declares the backend.
	AgentID      string
	AgentSourced bool
	Weight       int
	Region       string
	Check        check.Spec
	HeardAt      netip.Addr
	// AgentDrainSince and AgentDrainOver are the drain of its agent; none where the beginning is zero.
	AgentDrainSince time.Time
	AgentDrainOver  time.Duration
	// HeldSince and WarningHeldSince are the beginnings of the brakes that hold the agent's accusations; zero: none does.
	HeldSince, WarningHeldSince time.Time
	// Bleeds are the effects of the agent's early warnings on the share, by kind; zero for none.
	Bleeds [warningKinds]Bleed
}

// Bleed is the effect of one kind of early warning. It had come as far as Depth, of Over, at Since, and goes on from
// there; or back, where the warning has ended.
type Bleed struct {
	Over, Depth time.Duration
	Since       time.Time
	Ended       bool
}

// StatusStore keeps the records that must outlive the process.
type StatusStore interface {
	// SaveStatuses stores each record in the place of the one with the same ID, in one transaction. It may block; calls do
	// not overlap. On error nothing was stored, and the records will be passed again.
	SaveStatuses([]Remembered) error
}

// memory holds the records that wait to be saved, and those restored that nobody has asked for yet.
type memory struct {
	unsaved []*record
	gone    map[ID]struct{}
	// restored holds the records that New was given; waiting finds those in it that nobody has asked for.
	restored []Remembered
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

// snapshot returns the record of r to save.
func (r *record) snapshot(now time.Time) Remembered {
	m := Remembered{
		ID: r.id, Healthy: r.remembered == check.StateHealthy, Unknown: r.remembered == check.StateUnknown,
		Latency: r.pub.Validation.Latency, At: api.Moment(now.Round(0)),
		LastHealthyAt: api.Moment(r.pub.LastHealthyAt.Round(0)), AgentSourced: r.source() == api.SourceAgent,
		CreatedAt: api.Moment(r.pub.CreatedAt.Round(0)),
	}
	if r.pub.fit() {
		m.LastHealthyAt = m.At
	}
	if c := r.claim; c != nil {
		m.AgentID, m.Weight, m.Region, m.Check, m.HeardAt = c.agent.id, c.weight, c.region, c.asked.Value(), c.agent.address
		m.AgentDrainSince, m.AgentDrainOver = c.drain.stored()
		m.Bleeds = c.bleeds.stored()
	}
	if b := r.service.brakes; b != nil && r.pub.Held {
		m.HeldSince, m.WarningHeldSince = b[ConcernIll].since.Round(0), b[ConcernWarned].since.Round(0)
	}
	return m
}

// stored returns a drain as it is saved: its beginning by the wall clock, and its time; zero for none.
func (d *drain) stored() (since time.Time, over time.Duration) {
	if d == nil {
		return time.Time{}, 0
	}
	return d.since.Round(0), d.over
}

// batch takes the next records to be saved. Deletions come first, so that a backend that came back meanwhile stays.
func (w *writer) batch(now time.Time) (out []Remembered) {
	m := &w.memory
	for id := range m.gone {
		if len(out) >= saveAtMost {
			return out
		}
		out = append(out, Remembered{ID: id, Gone: true})
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
		out = append(out, r.snapshot(now))
	}
	m.unsaved = m.unsaved[taken:]
	if len(m.unsaved) == 0 {
		m.unsaved = nil // or its memory would never be let go
	}
	return out
}

// failed takes a batch back that could not be stored.
func (w *writer) failed(batch []Remembered) {
	for _, m := range batch {
		r := w.lookup(m.ID)
		switch {
		case r != nil:
			w.keep(r)
		case m.Gone:
			w.forgetID(m.ID)
		}
	}
}
