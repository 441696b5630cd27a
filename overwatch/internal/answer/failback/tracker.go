package failback

import (
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/model"
)

// Options configures a Tracker. Store and Changed are required.
type Options struct {
	Store Store
	// Stored are the regions that await failback from before the start.
	Stored []store.Failback
	// Changed is called after a change of a domain, which requires a new decision. It must not block or call the Tracker.
	Changed func(domain string)
	Now     func() time.Time // nil: time.Now
	Logger  zerolog.Logger
}

// Store stores changes. A call returns when they are on disk.
type Store interface {
	Write(*store.Batch, ...store.Entry) error
}

// Tracker stores the regions that await failback. Its methods are safe for concurrent use, and never wait for the disk,
// except Run. The name of a domain is the name of its service in the registry.
type Tracker struct {
	o    Options
	wake chan struct{} // has an element after a change

	mu      sync.Mutex
	domains map[string]*domain
	unsaved map[place]struct{}
	saving  map[place]*awaiting // in the current transaction
	ends    ends
}

// place is a region of a domain.
type place struct{ domain, region string }

// domain is the state of a domain. It exists while the domain has the setting or a region awaits failback.
type domain struct {
	setting  model.Failback       // of the last observation; zero: the node has no such domain, or it does not wait
	inUse    []string             // Observation.InUse of the last observation with an answer
	awaiting map[string]*awaiting // by region
	decided  []string             // regions that awaited failback at the last observation; sorted
}

// awaiting is a region that awaits failback.
type awaiting struct {
	at            place
	since         time.Time // when its clients moved to other regions
	own           bool      // this node has stored it, and deletes it if it stays unused
	health        policy.RegionHealth
	canServeSince time.Time // zero: it cannot serve
	unusedSince   time.Time // the domain or the region is not in the configuration since then; zero: it is
	end           time.Time // when Run ends the wait; zero: never
	index         int       // in Tracker.ends, if end is set
}

// New returns a Tracker with the stored regions. They are unused until the observation of their domains.
func New(o Options) *Tracker {
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Tracker{o: o, wake: make(chan struct{}, 1), domains: map[string]*domain{}, unsaved: map[place]struct{}{}}
	for _, f := range o.Stored {
		t.put(f)
	}
	return t
}

// getOrCreate returns the state of a domain. The caller holds mu, or is New.
func (t *Tracker) getOrCreate(name string) *domain {
	d := t.domains[name]
	if d == nil {
		d = &domain{awaiting: map[string]*awaiting{}}
		t.domains[name] = d
	}
	return d
}

// Awaiting returns the regions of a domain that await failback, sorted. The caller must not change the result.
func (t *Tracker) Awaiting(name string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.domains[name]; d != nil {
		return d.regions()
	}
	return nil
}

// regions returns the regions that await failback, sorted.
func (d *domain) regions() (list []string) {
	for region := range d.awaiting {
		list = append(list, region)
	}
	slices.Sort(list)
	return list
}

// InUse returns the regions in the current answers of a domain, sorted, without backends that have no region. It
// returns nil if they are unknown, or if the domain has no failback setting.
func (t *Tracker) InUse(name string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.domains[name]; d != nil && d.setting.Waits() {
		return slices.DeleteFunc(slices.Clone(d.inUse), func(region string) bool { return region == "" })
	}
	return nil
}

// Waits reports whether regions of a domain can await failback.
func (t *Tracker) Waits(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.domains[name]
	return d != nil && d.setting.Waits()
}

// Put makes a region await failback, as an operator has stored.
func (t *Tracker) Put(f store.Failback) {
	t.mu.Lock()
	t.put(f)
	t.mu.Unlock()
	t.o.Changed(f.Domain)
}

// put is Put without the report. The caller holds mu, or is New.
func (t *Tracker) put(f store.Failback) {
	d := t.getOrCreate(f.Domain)
	a := d.awaiting[f.Region]
	if a == nil {
		a = &awaiting{at: place{f.Domain, f.Region}}
		d.awaiting[f.Region] = a
	}
	a.since, a.own = f.Since, f.Own
	if d.setting.Waits() {
		t.setEnd(a, a.endsAt(d.setting)) // depends on own
	} else {
		t.leaveUnused(d, a)
	}
}

// Follow applies the wait of a region, or its end, that another node has stored. It has no effect on a region with an
// unsaved change of this node, because the change will be the latest.
func (t *Tracker) Follow(f store.Failback, awaits bool) {
	at := place{f.Domain, f.Region}
	t.mu.Lock()
	_, unsaved := t.unsaved[at]
	_, saving := t.saving[at]
	known := t.find(at)
	changes := !unsaved && !saving && (awaits || known != nil)
	switch {
	case changes && awaits:
		t.put(f)
	case changes:
		t.remove(known)
	}
	t.mu.Unlock()
	if changes {
		t.o.Changed(f.Domain)
	}
}

// Remove ends the wait of a region, as an operator has stored.
func (t *Tracker) Remove(name, region string) {
	t.mu.Lock()
	known := t.find(place{name, region})
	if known != nil {
		t.remove(known)
	}
	t.mu.Unlock()
	if known != nil {
		t.o.Changed(name)
	}
}

// Release ends the waits of a domain after its failback has become automatic. Waits that another node has stored have
// no effect on this node, and remain for nodes with another configuration.
func (t *Tracker) Release(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.domains[name]
	if d == nil {
		return
	}
	for _, a := range d.awaiting {
		if a.own {
			t.remove(a)
			t.markUnsaved(a.at)
		}
	}
	t.suspend(name, d)
}

// Suspend records that the node no longer has a domain. Its own waits of the domain end after retention.
func (t *Tracker) Suspend(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.domains[name]; d != nil {
		t.suspend(name, d)
	}
}

// suspend removes the observations of a domain. The caller holds mu.
func (t *Tracker) suspend(name string, d *domain) {
	d.setting, d.inUse, d.decided = model.Failback{}, nil, nil
	for _, a := range d.awaiting {
		t.leaveUnused(d, a)
	}
	if len(d.awaiting) == 0 {
		delete(t.domains, name)
	}
}

// markUnsaved queues the state of a region for the store. The caller holds mu.
func (t *Tracker) markUnsaved(at place) {
	t.unsaved[at] = struct{}{}
	t.wakeRun()
}

func (t *Tracker) wakeRun() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}
