package status

import "time"

// minFlapStops is the number of stops within a window after which a backend flaps. A stop is a change from serving to
// not serving without an operator's action.
const minFlapStops = 3

// Stops are the last stops of a backend.
type Stops struct {
	times  []time.Time // the oldest first, at most minFlapStops
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

// Damping delays the return of a flapping backend. The zero Damping has no delay.
type Damping struct {
	// Delay is the time without service after a stop of a flapping backend. Each further stop doubles the delay, up to
	// MaxDelay. If MaxDelay is 0, the maximum is 16 times Delay.
	Delay, MaxDelay time.Duration
}

// defaultMaxDelays is the default of Damping.MaxDelay as a multiple of Delay.
const defaultMaxDelays = 16

// Damped is the current delay of a backend. The zero Damped means no delay.
type Damped struct {
	Until time.Time
	delay time.Duration
}

// After returns the delay after a stop of a flapping backend at now. window is the time after the end of the previous
// delay in which a stop still doubles the delay.
func (d Damped) After(settings Damping, now time.Time, window time.Duration) Damped {
	if settings.Delay <= 0 {
		return Damped{}
	}
	delay := settings.Delay
	if d.delay > 0 && now.Sub(d.Until) < window {
		delay = 2 * d.delay
	}
	most := settings.MaxDelay
	if most <= 0 {
		most = defaultMaxDelays * settings.Delay
	}
	delay = min(delay, most)
	return Damped{Until: now.Add(delay), delay: delay}
}

// FlapEnd returns the time when a flapping backend no longer flaps.
func (s *Stops) FlapEnd(window time.Duration) time.Time { return s.times[0].Add(window) }
