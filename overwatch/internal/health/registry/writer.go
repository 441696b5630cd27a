package registry

import (
	"iter"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// writer holds the mutable state. Only New and the goroutine of Run use it.
type writer struct {
	options  Options
	timing   Timing
	view     *View
	start    time.Time
	sleepEnd time.Time // end of the last sleep; zero before the first

	services    map[string]*service
	agents      map[string]*agent
	adminStates map[string][]*scheduledState // by service
	deadlines   deadlines
	reportRound uint64 // number of the last message with reports
	isDeclaring bool   // SetStaticDeclarations is running

	// dirty lists the services with changes to publish. index and agentIndex have the entries to add to the view, or nil
	// to delete an entry. targetsChanged is true if a CheckTarget was added, removed or changed.
	dirty          []*service
	index          map[string]*slot
	agentIndex     map[string]*agent
	targetsChanged bool

	// regions has the counts of each region. queuedHolds lists the agents and regions with holds to update.
	regions     map[string]*region
	queuedHolds []interface{ updateHold(*writer, time.Time) }

	isolation isolation
	saving    saving
	changes   changeLog

	// reportedHealthy and reportedUnhealthy are the values of Backend.Reported.
	reportedHealthy, reportedUnhealthy *bool
}

func newWriter(o Options) *writer {
	healthy, unhealthy := true, false
	return &writer{
		options: o, timing: o.Timing, view: new(View), start: o.Now(),
		services: make(map[string]*service), agents: make(map[string]*agent), adminStates: make(map[string][]*scheduledState),
		index: make(map[string]*slot), agentIndex: make(map[string]*agent),
		regions:         make(map[string]*region),
		changes:         changeLog{noisy: make(map[*record]*changeCount)},
		reportedHealthy: &healthy, reportedUnhealthy: &unhealthy,
	}
}

// lookupRecord returns the record of id, or nil.
func (w *writer) lookupRecord(id ID) *record {
	s := w.services[id.Service]
	if s == nil {
		return nil
	}
	at, found := s.find(id)
	if !found {
		return nil
	}
	return s.records[at]
}

// getOrCreateService returns the service of a name.
func (w *writer) getOrCreateService(name string) *service {
	s := w.services[name]
	if s == nil {
		s = &service{name: name, slot: &slot{}}
		w.services[name] = s
		w.index[name] = s.slot
	}
	return s
}

// getOrCreateRecord returns the record of id. The caller must give a new record a source before it refreshes the
// record.
func (w *writer) getOrCreateRecord(id ID, now time.Time) *record {
	return w.getOrCreateIn(w.getOrCreateService(id.Service), id, now)
}

// getOrCreateIn is getOrCreateRecord for a known service.
func (w *writer) getOrCreateIn(s *service, id ID, now time.Time) *record {
	at, found := s.find(id)
	if found {
		return s.records[at]
	}
	id.Service = s.name // shares the string
	r := &record{id: id, service: s, isNew: true, published: &Backend{ID: id, CreatedAt: now}}
	s.records = slices.Insert(s.records, at, r)
	w.restoreRecord(r, now)
	return r
}

// removeRecord removes a record and its agent report.
func (w *writer) removeRecord(r *record) {
	s := r.service
	if at, found := s.find(r.id); found {
		s.records = slices.Delete(s.records, at, at+1)
	}
	if r.report != nil {
		r.report.agent.removeRecord(r)
	}
	r.isRemoved, r.unconfirmed = true, nil
	w.setEvidence(r, status.Evidence{})
	w.updateContribution(r)
	w.deleteStored(r)
	w.targetsChanged = true
	w.markDirty(s, true)
}

// removeOrRefresh removes r if it has no source, and refreshes it otherwise.
func (w *writer) removeOrRefresh(r *record, now time.Time) {
	if r.hasNoSource() {
		w.removeRecord(r)
		return
	}
	w.refreshBackend(r, now)
}

// records yields all records. It may yield a removed record.
func (w *writer) records() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for _, s := range w.services {
			for _, r := range slices.Clone(s.records) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// markDirty makes publishChanges publish the backends of s. With notify, it also calls Options.Changed.
func (w *writer) markDirty(s *service, notify bool) {
	if !s.dirty {
		s.dirty = true
		w.dirty = append(w.dirty, s)
	}
	s.notify = s.notify || notify
}

// publishChanges publishes all changes since the last call: first the backends of services, then the indexes. Then it
// calls Options.Changed for the services with changed answers.
func (w *writer) publishChanges(now time.Time) {
	w.updateIsolation(now)
	for i := 0; i < len(w.dirty); i++ { // updates of holds may append to it
		w.updateServiceHolds(w.dirty[i], now)
	}
	w.updateQueuedHolds(now)
	for i := 0; i < len(w.dirty); i++ { // updates of holds may append to it
		s := w.dirty[i]
		w.updateServiceHolds(s, now)
		if s.hasReplaced {
			w.removeReplaced(s, now)
		}
		s.publishBackends(w.view)
		if len(s.records) == 0 && w.services[s.name] == s {
			delete(w.services, s.name)
			w.index[s.name] = nil
		}
	}
	w.publishIndexes()
	dirty := w.dirty
	w.dirty = nil
	for _, s := range dirty {
		notify := s.notify
		s.dirty, s.notify = false, false
		if notify {
			w.options.Changed(s.name)
		}
	}
}

func (w *writer) publishIndexes() {
	if len(w.index) > 0 {
		w.view.services.update(w.index)
		clear(w.index)
	}
	if len(w.agentIndex) > 0 {
		w.view.agents.update(w.agentIndex)
		clear(w.agentIndex)
	}
	if w.targetsChanged {
		w.targetsChanged = false
		w.view.generation.Add(1)
	}
}

// publishBackends publishes the records of s.
func (s *service) publishBackends(v *View) {
	list := make([]*Backend, len(s.records))
	for i, r := range s.records {
		list[i] = r.published
	}
	before := s.slot.backends.Swap(&list)
	if asked := slices.ContainsFunc(list, (*Backend).isDrainedByAgent); asked != s.hasAgentDrain {
		if s.hasAgentDrain = asked; asked {
			v.drainingServices.Store(s.name, nil)
		} else {
			v.drainingServices.Delete(s.name)
		}
	}
	for _, b := range list {
		v.counts[statusNumber(b.Status)].Add(1)
	}
	if before == nil {
		return
	}
	for _, b := range *before {
		v.counts[statusNumber(b.Status)].Add(-1)
	}
}

// stateOf returns StateHealthy or StateUnhealthy.
func stateOf(healthy bool) check.State {
	if healthy {
		return check.StateHealthy
	}
	return check.StateUnhealthy
}
