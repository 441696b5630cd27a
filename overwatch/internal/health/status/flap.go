package status

import "time"

// minFlapStops is the number of stops within a window after which a backend flaps. A stop is a change from serving to
// not serving without an operator's action.
const minFlapStops = 3

// Stops are the last stops of a backend.
type Stops struct {
	times  []time.Time // the oldest first, at most flapStops
	reason string      // of the last stop
}

// AddStop adds a stop with its reason.
func (s *Stops) AddStop(reason string, now time.Time) {
	if len(s.times) == minFlapStops {
		s.times = append(s.times[:0], s.times[1:]...)
	}
	s.times, s.reason = append(s.times, now), reason
}

// FlapReason returns the reason of the last stop while the backend flaps, and "" otherwise.
func (s *Stops) FlapReason(now time.Time, window time.Duration) string {
	if len(s.times) < minFlapStops || now.Sub(s.times[0]) >= window {
		return ""
	}
	return s.reason
}

// FlapEnd returns the time when a flapping backend no longer flaps.
func (s *Stops) FlapEnd(window time.Duration) time.Time { return s.times[0].Add(window) }
