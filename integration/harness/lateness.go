package harness

import (
	"sync"
	"time"

	"github.com/miekg/dns"
)

const (
	// step is how long a Clock sleeps at a time: short against what is measured with it, long against what it costs.
	step = 10 * time.Millisecond
	// punctual is what a machine at rest adds to a sleep.
	punctual = 1500 * time.Microsecond
	// strain is how much longer than the sleeper the programs of a cluster may have waited: each step of what is measured
	// crosses some of them, and they do more than to wake up.
	strain = 5
	// keptSteps bounds the memory of a Clock: some hours.
	keptSteps = 1 << 20
)

// Clock is the yardstick for promises in wall-clock time: it sleeps again and again and notes by how much it was late,
// which is what a machine that is busy, or was stopped for a moment, takes from every program on it. On a machine at
// rest that is nothing.
type Clock struct {
	mu    sync.Mutex
	steps []lateStep
}

// lateStep is one sleep that was late.
type lateStep struct {
	from, to time.Time
	late     time.Duration
}

// StartClock returns a clock that runs as long as the process.
func StartClock() *Clock {
	c := &Clock{steps: []lateStep{{to: time.Now()}}}
	go func() {
		for {
			time.Sleep(step)
			c.note(time.Now())
		}
	}()
	return c
}

// note ends a sleep.
func (c *Clock) note(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := &c.steps[len(c.steps)-1]
	s := lateStep{from: last.to, to: now, late: max(now.Sub(last.to)-step-punctual, 0)}
	if s.late == 0 && last.late == 0 {
		last.to = now // one long step that was not late
		return
	}
	if len(c.steps) == keptSteps {
		c.steps = append(c.steps[:0], c.steps[keptSteps/2:]...)
	}
	c.steps = append(c.steps, s)
}

// Late is by how much this process was late from one time to another.
func (c *Clock) Late(from, to time.Time) (late time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Before(to) {
		to = now
	}
	late = max(to.Sub(c.steps[len(c.steps)-1].to)-step-punctual, 0) // of the sleep that has not ended
	for i := len(c.steps) - 1; i >= 0 && c.steps[i].to.After(from); i-- {
		if s := c.steps[i]; s.from.Before(to) {
			late += min(s.late, to.Sub(from))
		}
	}
	return min(late, max(to.Sub(from), 0))
}

// Allowed is what a promise of so much time may have taken from one time to another on this machine: the promise itself
// on one at rest.
func (c *Clock) Allowed(promise time.Duration, from, to time.Time) time.Duration {
	return promise + strain*c.Late(from, to)
}

// Starved says whether backends that were well at a time may be missing from the answers, since the machine was so late
// shortly before that as many checks as take one out may each have had all the time that they may take, and failed. It
// is back when it was checked again.
func (c *Clock) Starved(t Timing, at time.Time) bool {
	return c.StarvedBetween(t, at, at)
}

// StarvedBetween is Starved for any moment from one time to another.
func (c *Clock) StarvedBetween(t Timing, from, to time.Time) bool {
	needed := time.Duration(t.FailureThreshold) * t.ValidationTimeout
	for end := from.Add(-t.Recovery()); ; end = end.Add(needed / 4) {
		if end.After(to) {
			end = to
		}
		if c.Allowed(0, end.Add(-2*needed), end) >= needed {
			return true
		}
		if !end.Before(to) {
			return false
		}
	}
}

// Excuses says whether nothing can be said of an answer that is not good: there was none in a time in which this very
// client hardly ran, or it was that no backend is left after one in which checks may have failed for want of a
// processor only.
func (c *Clock) Excuses(t Timing, a Answer) bool {
	if a.Err != nil {
		return c.Late(a.At.Add(-AnswerBound), a.At) > AnswerBound/2
	}
	return a.Rcode == dns.RcodeServerFailure && c.Starved(t, a.At)
}
