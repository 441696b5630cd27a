// Package events makes the events of a node: it compares the state that other packages publish with the state that it
// saw before, follows the audit log, and adds events to the journal. The root runs Run and Follow, and calls Mark for
// services that have changed. No other package waits for it, and it changes none of the state that it reads.
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
	// every is the time between two looks at everything but backends.
	every = time.Second
	// perService is the time by which each service lengthens the interval between two sweeps; a sweep takes about a
	// hundredth of it for each.
	perService = 100 * time.Microsecond
	// pace is the shortest time between two looks at services that have changed.
	pace = 20 * time.Millisecond
)

// Options gives the sources of events. All but Node, Keys, Rolls, Logger and Now are required.
type Options struct {
	Node    string // its id
	Journal *journal.Journal
	View    *registry.View
	// Domains lists the steered names. Settings changes whenever Domains would return something else.
	Domains  func() []conditions.Domain
	Settings func() any
	// Standing lists the conditions that hold, without those of names and backends.
	Standing func() []api.Condition
	// Heard reports whether another node is heard, by its name; Pinned whether an agent is pinned, and since when.
	Heard  func(node string) bool
	Pinned func(agent string) (since time.Time, pinned bool)
	// Keys lists the signing keys; nil: answers are not signed.
	Keys   func() []dnssec.KeyState
	Rolls  func() []dnssec.RollState // changes of keys; nil as Keys
	Audit  *audit.Log
	Logger zerolog.Logger
	Now    func() time.Time // nil is time.Now
}

// Watcher makes events.
type Watcher struct {
	o    Options
	wake chan struct{} // holds one element while a service waits

	mu      sync.Mutex
	changed map[string]bool // services
	folded  uint64
}

// New makes a Watcher.
func New(o Options) (*Watcher, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Journal == nil || o.View == nil || o.Domains == nil || o.Settings == nil || o.Standing == nil ||
		o.Heard == nil || o.Pinned == nil || o.Audit == nil {
		return nil, errors.New("events: an option is not set")
	}
	return &Watcher{o: o, wake: make(chan struct{}, 1), changed: map[string]bool{}}, nil
}

// Mark notes that something of a service has changed. Any goroutine may call it; it never waits.
func (w *Watcher) Mark(service string) {
	w.mu.Lock()
	w.changed[service] = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Folded returns how many changes have no event of their own, since there were too many.
func (w *Watcher) Folded() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.folded
}

func (w *Watcher) take(folded uint64) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folded = folded
	changed := w.changed
	w.changed = map[string]bool{}
	return changed
}

// watch is the state of one Run: the node as it was seen last.
type watch struct {
	*tracker
	o        Options
	began    time.Time
	services map[string]seen
	sweeps   uint64
	swept    time.Time
	settings any
	domains  map[string]conditions.Domain
	fresh    map[string]time.Time // names that are new, and when
	settled  bool                 // agents had time to report since the start
	agents   map[string]bool      // heard so far; true: it has said goodbye
	keys     map[string]string
	offered  map[string]bool // stages of rolls that were told, or had begun before the start
}

// Run makes events until ctx ends. It returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	v := &watch{tracker: newTracker(w.o.Journal, w.o.Now), o: w.o, began: w.o.Now(), services: map[string]seen{},
		agents: map[string]bool{}, fresh: map[string]time.Time{}}
	v.add(v.ofNode("started", "the process has started"), v.began)
	defer func() { v.add(v.ofNode("stopped", "the process ends"), w.o.Now()) }()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	v.look()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			v.look()
		case <-w.wake:
			for name := range w.take(v.folded) {
				v.service(name, w.o.View.Service(name))
			}
			select {
			case <-ctx.Done():
			case <-time.After(pace):
			}
		}
	}
}

func (w *watch) ofNode(state, cause string) api.Event {
	return api.Event{Kind: api.EventNode, State: state, Severity: api.EventInfo, Subject: w.o.Node, Cause: cause,
		Sentence: "node " + w.o.Node + " has " + state}
}

// look makes the events of everything that is not marked: conditions, agents, keys, rollovers, names that need another
// look and, from time to time, all services.
func (w *watch) look() {
	now := w.now()
	all := false // names
	if !w.settled && now.Sub(w.began) >= settled {
		w.settled, all = true, true
	}
	if settings := w.o.Settings(); settings != w.settings || w.domains == nil {
		w.settings, all = settings, true
		w.readDomains()
	}
	if now.Sub(w.swept) >= time.Duration(len(w.services))*perService {
		w.sweep()
		w.swept = now
	}
	if all {
		for name := range w.domains {
			w.name(name, w.o.View.Service(name))
		}
		w.forgetNames()
	}
	w.ripen()
	w.lookAtAgents()
	w.lookAtConditions()
	w.lookAtKeys()
	w.lookAtRolls()
	w.flush()
}

func (w *watch) readDomains() {
	list, before := w.o.Domains(), w.domains
	w.domains = make(map[string]conditions.Domain, len(list))
	for _, d := range list {
		w.domains[d.Name] = d
		if _, known := before[d.Name]; !known && w.settled {
			w.fresh[d.Name] = w.now()
		}
	}
}

// ripen judges the names that were new a while ago: by now they should have backends.
func (w *watch) ripen() {
	for name, since := range w.fresh {
		if w.now().Sub(since) >= settled {
			delete(w.fresh, name)
			w.name(name, w.o.View.Service(name))
		}
	}
}

// forgetNames ends the events of names that are not steered any more.
func (w *watch) forgetNames() {
	for _, e := range w.held {
		if _, steered := w.domains[e.Subject]; e.Kind == api.EventName && !steered {
			w.name(e.Subject, nil)
		}
	}
}

// sweep judges the services that have changed since they were judged last, in case that Mark was not called for them,
// and forgets services that are gone.
func (w *watch) sweep() {
	w.sweeps++
	for name, backends := range w.o.View.All() {
		before, known := w.services[name]
		if known && same(before.backends, backends) {
			before.sweep = w.sweeps
			w.services[name] = before
			continue
		}
		w.service(name, backends)
	}
	for name, s := range w.services {
		if s.sweep != w.sweeps {
			w.service(name, nil)
		}
	}
	if w.settled {
		w.forgetBackends()
	}
}

// forgetBackends ends events from before a restart whose backends no longer exist.
func (w *watch) forgetBackends() {
	for _, e := range w.held {
		if e.Kind != api.EventBackend {
			continue
		}
		known := false
		for _, b := range w.services[e.Name].backends {
			known = known || b.ID.String() == e.Subject
		}
		if !known {
			w.set(api.Event{Kind: e.Kind, State: "gone", Subject: e.Subject, Name: e.Name,
				Cause: "nobody declares or reports it", Sentence: e.Subject + " is known no more"}, false)
		}
	}
}
