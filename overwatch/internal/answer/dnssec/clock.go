package dnssec

import (
	"sync"
	"time"
)

// Bounds on a move of the wall clock between two looks that voids no signature: back by less than signatures are
// backdated, and forward by less than the oldest ones still hold, which is Validity without renewal and jitter, six
// days. Signatures that hold are not made again after a jump forward, or validators would be sent signatures from the
// future.
const (
	maxBack    = backdated / 2
	maxForward = 3 * 24 * time.Hour
)

// clock detects jumps of the wall clock.
type clock struct {
	mu      sync.Mutex
	last    time.Time // zero before the first look
	highest time.Time // since the last jump
}

// check reports whether the clock has jumped since the last call. It compares dates, without the time that has passed
// meanwhile, because resolvers hold the date against signatures.
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
