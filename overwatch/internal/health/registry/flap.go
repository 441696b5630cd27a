package registry

import "time"

// A backend flaps while its last flapStops stops are within flapWindow. A stop is a change from serving to not serving
// that no operator made.
const (
	flapStops  = 3
	flapWindow = 10 * time.Minute
)

// noteStop records that r stops serving, if next stops it, and returns next with FlapReason.
func (r *record) noteStop(previous, next Backend, now time.Time) Backend {
	if !previous.MayServe || next.MayServe || next.Override != nil || next.Drained() {
		return next
	}
	if len(r.stops) == flapStops {
		r.stops = append(r.stops[:0], r.stops[1:]...)
	}
	r.stops, r.stopReason = append(r.stops, now), next.Reason
	next.FlapReason = r.flapReason(now)
	return next
}

// flapReason returns the reason of the last stop while r flaps, else "".
func (r *record) flapReason(now time.Time) string {
	if len(r.stops) < flapStops || now.Sub(r.stops[0]) >= flapWindow {
		return ""
	}
	return r.stopReason
}
