package trust

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// jumpLimit bounds the difference by which the wall clock may run away from the monotonic one between two readings;
	// time synchronisation slews by far less.
	jumpLimit = time.Minute
	// settleTime is the time before a jump of the wall clock is believed, so that a wrong clock that is soon put right
	// expires nobody's certificate.
	settleTime = 5 * time.Minute
)

// clock tells the time that decides about the validity of certificates: the wall clock, but not until settleTime after
// it jumped.
type clock struct {
	read    func() time.Time
	elapsed func(reading time.Time) time.Duration // monotonic
	log     zerolog.Logger

	mu      sync.Mutex
	wall    time.Time     // at the last reading
	passed  time.Duration // at the last reading
	jumped  time.Duration // what the wall clock is ahead of the believed time
	believe time.Duration // elapsed time from which the wall clock is believed again
	waiting bool          // for that
}

func newClock(read func() time.Time, log zerolog.Logger) *clock {
	start := read()
	elapsed := func(reading time.Time) time.Duration { return reading.Sub(start) } // monotonic if the readings are
	return &clock{read: read, elapsed: elapsed, log: log, wall: start.Round(0)}
}

// ClockJump returns the lead of the wall clock over the time by which certificates are judged: 0 unless it jumped in
// the last 5 minutes.
func (t *Trust) ClockJump() time.Duration {
	t.clock.now()
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.jumped
}

// now returns the believed time, and the monotonic time since the clock was made.
func (c *clock) now() (believed time.Time, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading := c.read()
	wall, passed := reading.Round(0), c.elapsed(reading)
	if jump := wall.Sub(c.wall) - (passed - c.passed); jump.Abs() > jumpLimit {
		c.jumped += jump
		c.believe = passed + settleTime
		c.waiting = true
		c.log.Error().Stringer("jump", jump).Stringer("off_by", c.jumped).Stringer("believed_in", settleTime).
			Msg("the clock jumped: certificates are judged by the time before it, for now")
	}
	c.wall, c.passed = wall, passed
	if c.waiting && (passed >= c.believe || c.jumped.Abs() <= jumpLimit) {
		c.jumped, c.waiting = 0, false
		c.log.Warn().Time("now", wall).Msg("the clock is believed again")
	}
	return wall.Add(-c.jumped), passed
}
