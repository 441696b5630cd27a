package testbed

import (
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// HeardAgainBound is the promised time until a node knows everything again once its agents can reach it. An agent tries
// at least every 15 s.
const HeardAgainBound = 25 * time.Second

// HeardAlways watches for a while that a backend's agent is never taken for silent, but for a moment in which several
// streams came late: a whole threshold more is none. How long the node takes to say so is another matter.
func (s *Site) HeardAlways(t *testing.T, n *harness.Node, b *harness.Backend, over time.Duration) {
	t.Helper()
	s.AllHeard(t, over, &Heard{Node: n, Backend: b})
}

// Heard is a backend's agent as a node hears it.
type Heard struct {
	Node    *harness.Node
	Backend *harness.Backend
	silent  time.Time // since when it is taken for silent
}

// AllHeard is HeardAlways for several agents and nodes at once.
func (s *Site) AllHeard(t *testing.T, over time.Duration, all ...*Heard) {
	t.Helper()
	During(t, over, StaleResolution, func() {
		for _, h := range all {
			h.look(t, s)
		}
	})
}

func (h *Heard) look(t *testing.T, s *Site) {
	t.Helper()
	var last error
	s.Status(t, h.Node, h.Backend, StartBound, func(v api.Backend) error {
		last = WantStatus(v, api.EffectiveHealthy, true)
		return nil
	})
	switch now := time.Now(); {
	case last == nil:
		h.silent = time.Time{}
	case h.silent.IsZero():
		h.silent = now
	case now.Sub(h.silent) > s.Timing.StaleThreshold:
		t.Fatalf("%s's agent at %s, for %s: %v", h.Backend.Name, h.Node.Name, now.Sub(h.silent).Round(time.Millisecond), last)
	}
}
