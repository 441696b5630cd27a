package predict

import "time"

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
