package trust

import (
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// jumpLimit is the maximum difference between wall clock and monotonic clock that is not treated as a step. Time
	// synchronization adjusts a clock by less.
	jumpLimit = time.Minute
	// settleTime is the time after which a step of the wall clock takes effect. A wrong clock that is corrected within
	// this time expires no certificate.
	settleTime = 5 * time.Minute
)

// clock returns the time for the validity of certificates: the wall clock, in which a step takes effect after
// settleTime.
type clock struct {
	read    func() time.Time
	elapsed func(reading time.Time) time.Duration // monotonic
	log     zerolog.Logger

	mu          sync.Mutex
	wall        time.Time     // at the last reading
	passed      time.Duration // at the last reading
	offset      time.Duration // offset of the wall clock after a step
	trustedFrom time.Duration // elapsed time at which the step takes effect
	isWaiting   bool          // a step has not been applied yet
}

func newClock(read func() time.Time, log zerolog.Logger) *clock {
	start := read()
	elapsed := func(reading time.Time) time.Duration { return reading.Sub(start) } // monotonic if both readings are
	return &clock{read: read, elapsed: elapsed, log: log, wall: start.Round(0)}
}

// ClockJump returns the difference between the wall clock and the time for certificates. It is 0 unless the clock
// stepped in the last 5 minutes.
func (t *Trust) ClockJump() time.Duration {
	t.clock.readTime()
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.offset
}

// readTime returns the time for certificates, and the monotonic time since newClock.
func (c *clock) readTime() (believed time.Time, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading := c.read()
	wall, passed := reading.Round(0), c.elapsed(reading)
	if jump := wall.Sub(c.wall) - (passed - c.passed); jump.Abs() > jumpLimit {
		c.offset += jump
		c.trustedFrom = passed + settleTime
		c.isWaiting = true
		c.log.Error().Stringer("jump", jump).Stringer("off_by", c.offset).Stringer("used_in", settleTime).
			Msg("the clock stepped; certificates are checked with the previous time until the clock is stable")
	}
	c.wall, c.passed = wall, passed
	if c.isWaiting && (passed >= c.trustedFrom || c.offset.Abs() <= jumpLimit) {
		c.offset, c.isWaiting = 0, false
		c.log.Warn().Time("now", wall).Msg("the clock is stable; certificates are checked with its time")
	}
	return wall.Add(-c.offset), passed
}
