package monitor

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"sync"
	"sync/atomic"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// Monitor watches the backends of an agent. Its methods may be called from any goroutine.
type Monitor struct {
	watches []*watch
	checks  atomic.Uint64
}

// New prepares the checks; nothing is checked before Run.
func New(o Options) (*Monitor, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	m := &Monitor{}
	count, err := m.measure(o.Registerer)
	if err != nil {
		return nil, err
	}
	for _, b := range o.Backends {
		prober, err := check.NewProber(b.Check, netip.AddrPortFrom(b.Address, b.Port), o.UserAgent)
		if err != nil {
			return nil, fmt.Errorf("health check of %s: %w", b, err)
		}
		m.watches = append(m.watches, newWatch(b, prober, count, o.Logger.With().Stringer("backend", b).Logger()))
	}
	return m, nil
}

// Run checks until ctx ends and returns when every check has ended. changed is told every change of a backend's state,
// the first conclusion included; the backend's own goroutine calls it, so it must not block. Run must be called once.
func (m *Monitor) Run(ctx context.Context, changed func(wire.Backend)) error {
	var watches sync.WaitGroup
	for _, w := range m.watches {
		watches.Go(func() { w.run(ctx, changed) })
	}
	watches.Wait()
	return nil
}

// Snapshot returns all backends as they are now, in the order of the configuration, in a new slice.
func (m *Monitor) Snapshot() []wire.Backend {
	backends := make([]wire.Backend, len(m.watches))
	for i, w := range m.watches {
		backends[i] = *w.state.Load()
	}
	return backends
}

// Failures yields every backend and how many of its checks have failed since it is watched.
func (m *Monitor) Failures() iter.Seq2[wire.Backend, uint64] {
	return func(yield func(wire.Backend, uint64) bool) {
		for _, w := range m.watches {
			if !yield(*w.state.Load(), w.failed.Load()) {
				return
			}
		}
	}
}

// Checks returns how many checks were made since the start.
func (m *Monitor) Checks() uint64 { return m.checks.Load() }
