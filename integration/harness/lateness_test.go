package harness

import (
	"testing"
	"time"
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
