// Package wallclock detects jumps of the wall clock. The store and the audit log check for jumps before they delete
// expired entries. The package must not set clocks.
package wallclock

import "time"

// maxDrift is the maximum difference between the wall clock and the monotonic clock between two readings. Time
// synchronization changes the clock by far less.
const maxDrift = time.Minute

// Watch compares readings of the wall clock. The zero Watch is ready for use. It is not safe for concurrent use.
type Watch struct{ wall, read time.Time }

// Jumped reports whether the wall clock jumped since the previous call. wall is its current time. The first call
// returns false.
func (w *Watch) Jumped(wall time.Time) bool {
	before, now := *w, time.Now()
	w.wall, w.read = wall.Round(0), now // without its monotonic part
	return !before.read.IsZero() && (w.wall.Sub(before.wall)-now.Sub(before.read)).Abs() > maxDrift
}
