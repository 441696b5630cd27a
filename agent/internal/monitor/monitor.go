package monitor

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"sync"
	"sync/atomic"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Monitor checks the backends of an agent. Any goroutine may call its methods.
type Monitor struct {
	options Options
	count   func(check.Result)
	checks  atomic.Uint64
	watches atomic.Pointer[[]*watch] // in the order of the configuration; never edited

	openSockets func() (lister, error) // a test replaces it

	mu    sync.Mutex   // locked by Run and Replace while they start and stop watches
	begin func(*watch) // starts a watch; nil while Run is not active
}

// New prepares the checks. Run starts them.
func New(o Options) (*Monitor, error) {
	if o.Registerer == nil {
		return nil, errors.New("monitor: Registerer must be set")
	}
	m := &Monitor{options: o, openSockets: openSockets}
	m.count = m.measure(o.Registerer)
	watches, err := m.prepare(o.Backends)
	if err != nil {
		return nil, err
	}
	m.watches.Store(&watches)
	return m, nil
}

// prepare creates a watch for each backend.
func (m *Monitor) prepare(backends []Backend) ([]*watch, error) {
	backends, err := canonical(backends)
	if err != nil {
		return nil, err
	}
	watches := make([]*watch, len(backends))
	for i, b := range backends {
		prober, err := check.NewProber(b.Check, netip.AddrPortFrom(b.Address, b.Port), m.options.UserAgent)
		if err != nil {
			return nil, fmt.Errorf("health check of %s: %w", b, err)
		}
		watches[i] = newWatch(b, prober, m.count, m.options.Logger.With().Stringer("backend", b).Logger())
	}
	return watches, nil
}

// Run checks the backends until ctx ends, and returns when every check has ended. It calls changed after every change
// of a backend's state, including the first result. The goroutine of the backend calls changed, which must not block.
// Run must be called once.
func (m *Monitor) Run(ctx context.Context, changed func(wire.Backend)) error {
	m.mu.Lock()
	m.begin = func(w *watch) { w.startChecks(ctx, changed) }
	for _, w := range m.list() {
		m.begin(w)
	}
	m.mu.Unlock()
	m.watchSockets(ctx)
	<-ctx.Done()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin = nil
	for _, w := range m.list() {
		w.stopChecks()
	}
	return nil
}

// Changes counts the backends that Replace has added, changed and removed.
type Changes struct{ Added, Changed, Removed int }

// Replace sets the backends to check. The checks of unchanged backends continue without interruption. A backend with
// another weight or check retains its state until a check changes it. An error leaves all backends unchanged.
func (m *Monitor) Replace(backends []Backend) (Changes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.prepare(backends)
	if err != nil {
		return Changes{}, err
	}
	// The following steps cannot fail.
	former := make(map[string]*watch)
	for _, w := range m.list() {
		former[w.backend.String()] = w
	}
	var did Changes
	var begun []*watch
	for i, w := range next {
		old := former[w.backend.String()]
		delete(former, w.backend.String())
		switch {
		case old == nil:
			did.Added++
		case old.backend == w.backend:
			next[i] = old
			continue
		default:
			did.Changed++
			old.stopChecks()
			w.inherit(old)
		}
		begun = append(begun, w)
	}
	for _, w := range former {
		did.Removed++
		w.stopChecks()
	}
	m.watches.Store(&next)
	for _, w := range begun {
		if m.begin != nil {
			m.begin(w)
		}
	}
	return did, nil
}

func (m *Monitor) list() []*watch { return *m.watches.Load() }

// Snapshot returns the state of all backends in the order of the configuration, in a new slice.
func (m *Monitor) Snapshot() []wire.Backend {
	watches := m.list()
	backends := make([]wire.Backend, len(watches))
	for i, w := range watches {
		backends[i] = *w.state.Load()
	}
	return backends
}

// Failures yields every backend and the number of its checks that have failed since it was added.
func (m *Monitor) Failures() iter.Seq2[wire.Backend, uint64] {
	return func(yield func(wire.Backend, uint64) bool) {
		for _, w := range m.list() {
			if !yield(*w.state.Load(), w.failed.Load()) {
				return
			}
		}
	}
}

// Checks returns the number of checks since the start.
func (m *Monitor) Checks() uint64 { return m.checks.Load() }
