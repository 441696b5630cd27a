package predict

import "time"

// releaseBelow is the distance in points below the threshold at which the signal clears. The distance is at most half
// of the threshold.
const releaseBelow = 5

// calmChecks is the number of consecutive values at or below that distance that clear the signal.
const calmChecks = 2

// threshold converts a series of values to a signal. T is the threshold and L is T - releaseBelow, at least T/2:
//
//	signal   value           calm in a row   next
//	cleared  up to T         -               cleared
//	cleared  above T         -               set
//	set      above L         -               set, the row ends
//	set      L or lower      below 2         set
//	set      L or lower      2               cleared
//	any      unknown         -               unchanged, and the row continues
type threshold struct {
	limit float64
	set   bool
	calm  int
}

// observe processes the next value and reports whether the signal changed.
func (t *threshold) observe(value float64) (changed bool) {
	switch {
	case !t.set:
		t.set, t.calm = value > t.limit, 0
		return t.set
	case value > max(t.limit-releaseBelow, t.limit/2):
		t.calm = 0
		return false
	}
	t.calm++
	t.set = t.calm < calmChecks
	return !t.set
}

// rate computes the growth of a counter in a sliding window.
type rate struct {
	window time.Duration
	points []point // ascending; the first is the latest point before the window
}

type point struct {
	at    time.Time
	total float64
}

// perMinute adds a value of the counter and returns the growth per minute in the window. During the first window, the
// time before the first value has no growth, so that a few failures after the start do not set the signal. If no value
// is exactly as old as the window, the growth since the latest older value is spread evenly over the time since that
// value, so that a late value does not appear as a burst.
func (r *rate) perMinute(total float64, now time.Time) float64 {
	if n := len(r.points); n > 0 && total < r.points[n-1].total {
		r.points = r.points[:0] // the counter was reset
	}
	r.points = append(r.points, point{now, total})
	from := now.Add(-r.window)
	old := 0
	for old+1 < len(r.points) && !r.points[old+1].at.After(from) {
		old++
	}
	r.points = append(r.points[:0], r.points[old:]...)
	return (total - r.points[0].total) * float64(time.Minute) / float64(max(r.window, now.Sub(r.points[0].at)))
}
