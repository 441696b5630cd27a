package predict

import "time"

// releaseBelow is the number of points that a value must be below its threshold for the signal to clear; for thresholds
// so low that there are no such points, half of the threshold.
const releaseBelow = 5

// calmChecks is the number of values in a row, that far below the threshold, that clear the signal.
const calmChecks = 2

// threshold turns a row of values into a signal. T is the threshold and L is T - releaseBelow, at least T/2:
//
//	signal   value           calm in a row   next
//	cleared  up to T         -               cleared
//	cleared  above T         -               set
//	set      above L         -               set, the row ends
//	set      L or lower      below 2         set
//	set      L or lower      2               cleared
//	any      not known       -               the same, and the row goes on
type threshold struct {
	limit float64
	set   bool
	calm  int
}

// observe takes the next value and reports whether the signal changed.
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

// rate computes the growth of a counter during the newest window.
type rate struct {
	window time.Duration
	points []point // ascending; the first one is the newest that is not inside the window
}

type point struct {
	at    time.Time
	total float64
}

// perMinute adds the counter's value and returns its growth during the window, per minute. Until a
// whole window was observed, the unobserved part counts as no growth: a few failures after the
// start are no trend. If no value was added a window ago, the growth since the value before is
// spread evenly over the time between: a late value is no burst.
func (r *rate) perMinute(total float64, now time.Time) float64 {
	if n := len(r.points); n > 0 && total < r.points[n-1].total {
		r.points = r.points[:0] // counted from the beginning again
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
