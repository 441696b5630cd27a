package harness

import (
	"errors"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestClock_CountsOnlyWhatWasLate(t *testing.T) {
	begin := time.Now().Add(-time.Hour)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	c := &Clock{steps: []lateStep{{to: begin}}}
	for _, ms := range []int{10, 21, 31, 531, 542, 552, 602, 612} { // late by 490 ms and by 40 ms
		c.note(at(ms))
	}
	c.steps = append(c.steps, lateStep{to: time.Now()})
	for _, try := range []struct{ from, to, least, most int }{
		{0, 612, 525, 530},
		{0, 30, 0, 0},
		{0, 100, 69, 100}, // no more than there was
		{31, 531, 485, 490},
		{540, 612, 38, 40},
		{602, 612, 0, 0},
	} {
		late := c.Late(at(try.from), at(try.to))
		if ms := int(late.Milliseconds()); ms < try.least || ms > try.most {
			t.Errorf("from %d to %d ms it was late by %s, want %d to %d ms", try.from, try.to, late, try.least, try.most)
		}
	}
	if got := c.Allowed(time.Second, at(540), at(550)); got != time.Second {
		t.Errorf("on a machine at rest %s is allowed", got)
	}
	if got := c.Allowed(time.Second, at(0), at(612)); got < 3*time.Second || got > 4*time.Second {
		t.Errorf("on a machine that was late by half a second %s is allowed", got)
	}
}

func TestClock_ASleepThatHasNotEndedCounts(t *testing.T) {
	c := &Clock{steps: []lateStep{{to: time.Now().Add(-time.Second)}}}
	if late := c.Late(time.Now().Add(-2*time.Second), time.Now()); late < 900*time.Millisecond {
		t.Errorf("late by %s", late)
	}
}

// An answer that is not good counts, unless the machine was so late that nothing can be said of it.
func TestClock_ExcusesWhatAMachineThatStoodStillExplains(t *testing.T) {
	timing := Fast()
	begin := time.Now().Add(-time.Hour)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	c := &Clock{steps: []lateStep{{to: begin}, {from: at(5000), to: at(5910), late: 900 * time.Millisecond},
		{from: at(20000), to: at(20060), late: 50 * time.Millisecond}, {to: time.Now()}}}
	for _, try := range []struct {
		what    string
		answer  Answer
		excused bool
	}{
		{"none in that time", Answer{Err: errors.New("timeout"), At: at(5950)}, true},
		{"none long after", Answer{Err: errors.New("timeout"), At: at(8000)}, false},
		{"nobody left soon after", Answer{Rcode: dns.RcodeServerFailure, At: at(6100)}, true},
		{"nobody left before it was checked again", Answer{Rcode: dns.RcodeServerFailure, At: at(8300)}, true},
		{"nobody left long after", Answer{Rcode: dns.RcodeServerFailure, At: at(12000)}, false},
		{"nobody left before", Answer{Rcode: dns.RcodeServerFailure, At: at(4900)}, false},
		{"nobody left after a moment that no check minds", Answer{Rcode: dns.RcodeServerFailure, At: at(20100)}, false},
		{"that there is no such name", Answer{Rcode: dns.RcodeNameError, At: at(6100)}, false},
		{"without an address", Answer{At: at(6100)}, false},
	} {
		if got := c.Excuses(timing, try.answer); got != try.excused {
			t.Errorf("%s: excused %t", try.what, got)
		}
	}
	if !c.StarvedBetween(timing, at(0), at(60000)) || c.StarvedBetween(timing, at(12000), at(19000)) {
		t.Error("between two times")
	}
}
