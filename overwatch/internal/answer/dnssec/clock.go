package dnssec

import (
	"sync"
	"time"
)

// Limits for a change of the wall clock between two calls of check. Within the limits, signatures remain valid: they
// are backdated by more than maxBack, and remain valid for more than maxForward after their renewal time. Valid
// signatures are not replaced after a jump forward, because validators would receive signatures from the future.
const (
	maxBack    = backdated / 2
	maxForward = 3 * 24 * time.Hour
)

// clock detects jumps of the wall clock. It is safe for concurrent use.
type clock struct {
	mu      sync.Mutex
	last    time.Time // time of the last call; zero before the first
	highest time.Time // latest time since the last jump
}

// check reports whether the clock jumped since the last call. It compares wall-clock times and ignores the monotonic
// clock, because resolvers compare signatures with the wall clock.
func (c *clock) check(now time.Time) (jumped bool) {
	now = now.Round(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() && (now.Before(c.highest.Add(-maxBack)) || now.After(c.last.Add(maxForward))) {
		jumped = true
		c.highest = now
	}
	c.last = now
	if now.After(c.highest) {
		c.highest = now
	}
	return jumped
}
