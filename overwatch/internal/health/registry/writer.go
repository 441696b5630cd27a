package registry

import (
	"iter"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/check"
)

// writer holds all state that changes. Only the goroutine of Run touches it, and New before that.
type writer struct {
	options  Options
	timing   Timing
	view     *View
	start    time.Time
	sleepEnd time.Time // when rest ends; zero before the first

	services    map[string]*service
	agents      map[string]*agent
	adminStates map[string][]*scheduledState // by service
	deadlines   deadlines
	reportRound uint64 // of claims
	isDeclaring bool   // configuration is being declared

	// dirty lists the services with something to publish. index and agentIndex are the entries that the view must get or,
	// where nil, lose. targetsChanged tells that a Target has come, gone or changed.
	dirty          []*service
	index          map[string]*slot
	agentIndex     map[string]*agent
	targetsChanged bool

	// regions holds the sums of each region; unjudged lists the agents and regions whose brakes are to be judged.
	regions     map[string]*region
	queuedHolds []interface{ updateHold(*writer, time.Time) }

	isolation isolation
	saving    saving
	changes   changeLog

	// reportedHealthy and saysUnhealthy are the two values that Backend.Claim points to.
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

// lookupRecord returns the record of id, nil if there is none.
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

// getOrCreateService returns the service of that name, a new one if there is none.
func (w *writer) getOrCreateService(name string) *service {
	s := w.services[name]
	if s == nil {
		s = &service{name: name, slot: &slot{}}
		w.services[name] = s
		w.index[name] = s.slot
	}
	return s
}

// getOrCreateRecord returns the record of id, a new one if there is none. A new one must be given a source before it is
// refreshed.
func (w *writer) getOrCreateRecord(id ID, now time.Time) *record {
	return w.getOrCreateIn(w.getOrCreateService(id.Service), id, now)
}

// getOrCreateIn is obtain for a caller that has the service already.
func (w *writer) getOrCreateIn(s *service, id ID, now time.Time) *record {
	at, found := s.find(id)
	if found {
		return s.records[at]
	}
	id.Service = s.name // one string for all of them
	r := &record{id: id, service: s, isNew: true, published: &Backend{ID: id, CreatedAt: now}}
	s.records = slices.Insert(s.records, at, r)
	w.restoreRecord(r, now)
	return r
}

// removeRecord removes a record, with its claim if it has one.
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

// removeOrRefresh removes r if nothing declares or claims it any more, and refreshes it otherwise.
func (w *writer) removeOrRefresh(r *record, now time.Time) {
	if r.hasNoSource() {
		w.removeRecord(r)
		return
	}
	w.refreshBackend(r, now)
}

// records yields every record. Those that it comes to later may be removed meanwhile.
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

// markDirty notes that the slot of s must be filled anew.
func (w *writer) markDirty(s *service, notify bool) {
	if !s.dirty {
		s.dirty = true
		w.dirty = append(w.dirty, s)
	}
	s.notify = s.notify || notify
}

// publishChanges shows readers everything that has changed since the last call, slots first and then the index. Then it
// calls Options.Changed for the services whose answers may change.
func (w *writer) publishChanges(now time.Time) {
	w.updateIsolation(now)
	for i := 0; i < len(w.dirty); i++ { // which a brake may add to
		w.updateServiceHolds(w.dirty[i], now)
	}
	w.updateQueuedHolds(now)
	for i := 0; i < len(w.dirty); i++ { // which a brake may add to
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
