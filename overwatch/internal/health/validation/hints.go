package validation

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
)

// Hints contains backends with an urgent next check, because of signs that their state has changed. A hint is no
// evidence. Its methods are safe for concurrent use.
type Hints struct {
	mu      sync.Mutex
	pending map[registry.ID]struct{}
	wake    chan struct{} // has an element while backends are pending
}

// NewHints returns Hints without backends.
func NewHints() *Hints {
	return &Hints{pending: map[registry.ID]struct{}{}, wake: make(chan struct{}, 1)}
}

// Add makes the next check of a backend urgent. It does not block.
func (h *Hints) Add(id registry.ID) {
	h.mu.Lock()
	h.pending[id] = struct{}{}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// takeAll removes and returns all backends.
func (h *Hints) takeAll() map[registry.ID]struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := maps.Clone(h.pending)
	clear(h.pending)
	return taken
}

// hasten moves the next checks of backends forward, and spreads them like the checks of new targets, also after earlier
// hints. Many hints cause at most the rate of a failing backend: the next check begins at least a fast interval after
// the end of the last check. A running check continues.
func (s *schedule) hasten(ids map[registry.ID]struct{}, now time.Time) {
	begin, over := s.hintsEnd, time.Duration(len(ids))*startSpread
	if begin.Before(now) {
		begin = now
	}
	if begin.Add(over).Sub(now) > s.settings.Interval {
		begin, over = now, s.settings.Interval
	}
	s.hintsEnd = begin.Add(over)
	for id := range ids {
		e := s.entries[id]
		if e == nil || e.running {
			continue
		}
		due := begin.Add(rand.N(over))
		if earliest := e.ended.Add(e.target.Spec.ShortestInterval()); due.Before(earliest) {
			due = earliest
		}
		if due.Before(e.due) {
			e.due, e.spread = due, true
			s.enqueue(e)
		}
	}
}
