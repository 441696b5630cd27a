package dnssec

import (
	"sync"
	"time"
)

// How far the wall clock may have moved between two looks without anything that is signed becoming void: back by less than
// signatures are backdated, and forward by much less than they hold.
const (
	maxBack    = backdated / 2
	maxForward = 24 * time.Hour
)

// clock watches the wall clock for jumps.
type clock struct {
	mu      sync.Mutex
	last    time.Time // zero before the first look
	highest time.Time // since the last jump
}

// check says whether the clock has jumped since the last look. The readings are compared as dates: what has passed
// meanwhile does not count, since it is the date that resolvers hold against signatures.
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
