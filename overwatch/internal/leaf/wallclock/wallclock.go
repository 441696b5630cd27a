// Package wallclock notices that the wall clock was set. The store and the audit log ask it before they forget anything
// for its age. It never sets a clock.
package wallclock

import "time"

// maxDrift bounds the difference by which the wall clock may run away from the monotonic one between two readings: time
// synchronisation slews by far less.
const maxDrift = time.Minute

// Watch compares readings of the wall clock. The zero Watch is ready for use. It belongs to one goroutine at a time.
type Watch struct{ wall, read time.Time }

// Jumped reports whether the clock, which says wall now, was set since the call before. The first call returns false.
func (w *Watch) Jumped(wall time.Time) bool {
	before, now := *w, time.Now()
	w.wall, w.read = wall.Round(0), now // without its monotonic part
	return !before.read.IsZero() && (w.wall.Sub(before.wall)-now.Sub(before.read)).Abs() > maxDrift
}
