// Package events creates the events of a node. It compares the state that other packages publish with the previous
// state, follows the audit log, and adds events to the journal.
//
// The root runs Run and FollowAuditLog, and calls MarkService for changed services. No other package waits for events.
// The package must not change the state that it reads.
package events

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/operate/conditions"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/journal"
	"gslb.internal/shared/api"
)

const (
	// interval is the time between two updates of everything except marked services.
	interval = time.Second
	// perService is the time that each service adds to the interval between two sweeps. A sweep takes about a hundredth of
	// the interval.
	perService = 100 * time.Microsecond
	// minPause is the minimum time between two updates of marked services.
	minPause = 20 * time.Millisecond
)

// Options contains the sources of events. All except Node, Keys, Rollovers, Logger and Now are required.
type Options struct {
	Node    string // its id
	Journal *journal.Journal
	View    *registry.View
	// Domains lists the domains. Settings returns a different value after each change of Domains.
	Domains  func() []conditions.Domain
	Settings func() any
	// Conditions lists the active conditions, without the conditions of domains and backends.
	Conditions func() []api.Condition
	// IsNodeAlive reports whether the other node with a name is alive. IsPinned reports whether an agent is pinned, and
	// the time of the pin.
	IsNodeAlive func(node string) bool
	IsPinned    func(agent string) (since time.Time, pinned bool)
	// Keys lists the signing keys, and is nil without signing.
	Keys      func() []dnssec.KeyState
	Rollovers func() []dnssec.RollState // key rollovers; nil without signing
	Audit     *audit.Log
	Logger    zerolog.Logger
	Now       func() time.Time // nil is time.Now
}

// Watcher makes events.
type Watcher struct {
	o    Options
	wake chan struct{} // has an element while a service is marked

	mu      sync.Mutex
	changed map[string]bool // services
	folded  uint64
}

// New returns a Watcher.
func New(o Options) (*Watcher, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Journal == nil || o.View == nil || o.Domains == nil || o.Settings == nil || o.Conditions == nil ||
		o.IsNodeAlive == nil || o.IsPinned == nil || o.Audit == nil {
		return nil, errors.New("events: a required option is not set")
	}
	return &Watcher{o: o, wake: make(chan struct{}, 1), changed: map[string]bool{}}, nil
}

// MarkService marks a service as changed. Any goroutine may call it, and it does not block.
func (w *Watcher) MarkService(service string) {
	w.mu.Lock()
	w.changed[service] = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Folded returns the number of changes without a separate event, because of the limits of events.
func (w *Watcher) Folded() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.folded
}

func (w *Watcher) takeChanged(folded uint64) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folded = folded
	changed := w.changed
	w.changed = map[string]bool{}
	return changed
}

// watch is the state of Run: the previous state of the node.
type watch struct {
	*tracker
	o              Options
	startedAt      time.Time
	services       map[string]published
	sweeps         uint64
	lastSweep      time.Time
	settings       any
	domains        map[string]conditions.Domain
	newNames       map[string]time.Time // new names, with the time
	isSettled      bool                 // agents had time to report after the start
	agents         map[string]bool      // known agents; true after a leave message
	keys           map[string]string
	rolloverEvents map[string]bool // rollover stages with an event, or from before the start
}

// Run makes events until ctx ends. It returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	v := &watch{tracker: newTracker(w.o.Journal, w.o.Now), o: w.o, startedAt: w.o.Now(), services: map[string]published{},
		agents: map[string]bool{}, newNames: map[string]time.Time{}}
	v.addUnlessFlood(v.nodeEvent("started", "the process started"), v.startedAt)
	defer func() { v.addUnlessFlood(v.nodeEvent("stopped", "the process ends"), w.o.Now()) }()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	v.updateAll()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			v.updateAll()
		case <-w.wake:
			for name := range w.takeChanged(v.folded) {
				v.updateService(name, w.o.View.Service(name))
			}
			select {
			case <-ctx.Done():
			case <-time.After(minPause):
			}
		}
	}
}

func (w *watch) nodeEvent(state, cause string) api.Event {
	return api.Event{Kind: api.EventNode, State: state, Severity: api.EventInfo, Subject: w.o.Node, Cause: cause,
		Sentence: "node " + w.o.Node + " " + state + ": " + cause}
}

// updateAll makes the events of conditions, agents, keys and rollovers, and of names and services that need an update.
func (w *watch) updateAll() {
	now := w.now()
	all := false // names
	if !w.isSettled && now.Sub(w.startedAt) >= settleTime {
		w.isSettled, all = true, true
	}
	if settings := w.o.Settings(); settings != w.settings || w.domains == nil {
		w.settings, all = settings, true
		w.readDomains()
	}
	if now.Sub(w.lastSweep) >= time.Duration(len(w.services))*perService {
		w.updateChangedServices()
		w.lastSweep = now
	}
	if all {
		for name := range w.domains {
			w.updateName(name, w.o.View.Service(name))
		}
		w.endRemovedNames()
	}
	w.updateNewNames()
	w.updateAgents()
	w.updateConditions()
	w.updateKeys()
	w.updateRollovers()
	w.addFolded()
}

func (w *watch) readDomains() {
	list, before := w.o.Domains(), w.domains
	w.domains = make(map[string]conditions.Domain, len(list))
	for _, d := range list {
		w.domains[d.Name] = d
		if _, known := before[d.Name]; !known && w.isSettled {
			w.newNames[d.Name] = w.now()
		}
	}
}

// updateNewNames updates the names that were defined settleTime ago: their agents had time to report.
func (w *watch) updateNewNames() {
	for name, since := range w.newNames {
		if w.now().Sub(since) >= settleTime {
			delete(w.newNames, name)
			w.updateName(name, w.o.View.Service(name))
		}
	}
}

// endRemovedNames ends the events of removed names.
func (w *watch) endRemovedNames() {
	for _, e := range w.active {
		if _, steered := w.domains[e.Subject]; e.Kind == api.EventName && !steered {
			w.updateName(e.Subject, nil)
		}
	}
}

// updateChangedServices updates services with a change since their last update, even without a call of MarkService, and
// removed services.
func (w *watch) updateChangedServices() {
	w.sweeps++
	for name, backends := range w.o.View.All() {
		before, known := w.services[name]
		if known && isSamePublication(before.backends, backends) {
			before.sweep = w.sweeps
			w.services[name] = before
			continue
		}
		w.updateService(name, backends)
	}
	for name, s := range w.services {
		if s.sweep != w.sweeps {
			w.updateService(name, nil)
		}
	}
	if w.isSettled {
		w.endRemovedBackends()
	}
}

// endRemovedBackends ends events of removed backends from before a restart.
func (w *watch) endRemovedBackends() {
	for _, e := range w.active {
		if e.Kind != api.EventBackend {
			continue
		}
		known := false
		for _, b := range w.services[e.Name].backends {
			known = known || b.ID.String() == e.Subject
		}
		if !known {
			w.setState(api.Event{Kind: e.Kind, State: "gone", Subject: e.Subject, Name: e.Name,
				Cause: causeRemoved, Sentence: e.Subject + " was removed: " + causeRemoved}, false)
		}
	}
}
