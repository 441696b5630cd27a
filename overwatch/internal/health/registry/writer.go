package registry

import (
	"iter"
	"slices"
	"time"

	"gslb.internal/shared/check"
)

// writer holds all state that changes. Only the goroutine of Run touches it, and New before that.
type writer struct {
	options Options
	timing  Timing
	view    *View
	start   time.Time
	wakes   time.Time // when rest ends; zero before the first

	services  map[string]*service
	agents    map[string]*agent
	orders    map[string][]*order // by service
	deadlines deadlines
	round     uint64 // of claims
	declaring bool   // configuration is being declared

	// dirty lists the services with something to publish. index and agentIndex are the entries that the view must get or,
	// where nil, lose. targetsChanged tells that a Target has come, gone or changed.
	dirty          []*service
	index          map[string]*slot
	agentIndex     map[string]*agent
	targetsChanged bool

	// regions holds the sums of each region; unjudged lists the agents and regions whose brakes are to be judged.
	regions  map[string]*region
	unjudged []interface{ judge(*writer, time.Time) }

	suspension suspension
	memory     memory
	changes    changeLog

	// saysHealthy and saysUnhealthy are the two values that Backend.Claim points to.
	saysHealthy, saysUnhealthy *bool
}

func newWriter(o Options) *writer {
	healthy, unhealthy := true, false
	return &writer{
		options: o, timing: o.Timing, view: new(View), start: o.Now(),
		services: make(map[string]*service), agents: make(map[string]*agent), orders: make(map[string][]*order),
		index: make(map[string]*slot), agentIndex: make(map[string]*agent),
		regions:     make(map[string]*region),
		changes:     changeLog{noisy: make(map[*record]*noise)},
		suspension:  suspension{regions: make(map[string]*tally)},
		saysHealthy: &healthy, saysUnhealthy: &unhealthy,
	}
}

// lookup returns the record of id, nil if there is none.
func (w *writer) lookup(id ID) *record {
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

// service returns the service of that name, a new one if there is none.
func (w *writer) service(name string) *service {
	s := w.services[name]
	if s == nil {
		s = &service{name: name, slot: &slot{}}
		w.services[name] = s
		w.index[name] = s.slot
	}
	return s
}

// obtain returns the record of id, a new one if there is none. A new one must be given a source before it is refreshed.
func (w *writer) obtain(id ID, now time.Time) *record {
	return w.obtainOf(w.service(id.Service), id, now)
}

// obtainOf is obtain for a caller that has the service already.
func (w *writer) obtainOf(s *service, id ID, now time.Time) *record {
	at, found := s.find(id)
	if found {
		return s.records[at]
	}
	id.Service = s.name // one string for all of them
	r := &record{id: id, service: s, draft: true, pub: &Backend{ID: id, CreatedAt: now}}
	s.records = slices.Insert(s.records, at, r)
	w.recall(r, now)
	return r
}

// remove removes a record, with its claim if it has one.
func (w *writer) remove(r *record) {
	s := r.service
	if at, found := s.find(r.id); found {
		s.records = slices.Delete(s.records, at, at+1)
	}
	if r.claim != nil {
		r.claim.agent.forget(r)
	}
	r.removed, r.accused = true, nil
	w.setSide(r, side{})
	w.countInRegion(r)
	w.forgetStored(r)
	w.targetsChanged = true
	w.mark(s, true)
}

// release removes r if nothing declares or claims it any more, and refreshes it otherwise.
func (w *writer) release(r *record, now time.Time) {
	if r.orphaned() {
		w.remove(r)
		return
	}
	w.refresh(r, now)
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

// mark notes that the slot of s must be filled anew.
func (w *writer) mark(s *service, notify bool) {
	if !s.dirty {
		s.dirty = true
		w.dirty = append(w.dirty, s)
	}
	s.notify = s.notify || notify
}

// publish shows readers everything that has changed since the last call, slots first and then the index. Then it calls
// Options.Changed for the services whose answers may change.
func (w *writer) publish(now time.Time) {
	w.judgeSuspension(now)
	for i := 0; i < len(w.dirty); i++ { // which a brake may add to
		w.judgeBrakes(w.dirty[i], now)
	}
	w.judgeProtection(now)
	for i := 0; i < len(w.dirty); i++ { // which a brake may add to
		s := w.dirty[i]
		w.judgeBrakes(s, now)
		if s.settling {
			w.settle(s, now)
		}
		s.fill(w.view)
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

// fill publishes the records of s.
func (s *service) fill(v *View) {
	list := make([]*Backend, len(s.records))
	for i, r := range s.records {
		list[i] = r.pub
	}
	before := s.slot.backends.Swap(&list)
	if asked := slices.ContainsFunc(list, (*Backend).askedToDrain); asked != s.asked {
		if s.asked = asked; asked {
			v.asked.Store(s.name, nil)
		} else {
			v.asked.Delete(s.name)
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
