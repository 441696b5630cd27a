package testbed

import (
	"testing"
	"time"

	"gslb.internal/integration/harness"
	"gslb.internal/shared/api"
)

// HeardAgainBound is the promised time until a node knows all backends after its agents can reach it. An agent retries
// at least every 15 s.
const HeardAgainBound = 25 * time.Second

// HeardAlways checks for a while that a node receives the reports of a backend's agent, by the backend's status.
// Silence up to the stale threshold is allowed, since several streams may be late; longer silence fails the test.
func (s *Site) HeardAlways(t *testing.T, n *harness.Node, b *harness.Backend, over time.Duration) {
	t.Helper()
	s.AllHeard(t, over, &Heard{Node: n, Backend: b})
}

// Heard observes a backend's agent on a node.
type Heard struct {
	Node    *harness.Node
	Backend *harness.Backend
	silent  time.Time // start of the silence; zero: none
}

// AllHeard runs HeardAlways for several agents and nodes concurrently.
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
