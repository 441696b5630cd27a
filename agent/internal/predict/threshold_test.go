package predict // inside: it uses rate and threshold

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestThreshold_SetsAboveAndClearsFivePointsBelowTwiceInARow(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  float64
		values []float64
		want   string // after each value: S set, . cleared
	}{
		{"at the threshold is not above it", 85, []float64{85, 85.1}, ".S"},
		{"a little below does not clear", 85, []float64{90, 84, 80.1, 81}, "SSSS"},
		{"once does not clear", 85, []float64{90, 80, 81, 80, 86}, "SSSSS"},
		{"twice in a row does", 85, []float64{90, 80, 80, 80}, "SS.."},
		{"set again at once", 85, []float64{90, 10, 10, 90}, "SS.S"},
		{"errors per minute", 10, []float64{11, 6, 5, 5}, "SSS."},
		{"a threshold without five points below it", 4, []float64{5, 3, 2, 2}, "SSS."},
	} {
		th, got := threshold{limit: c.limit}, ""
		for _, v := range c.values {
			before := th.set
			if changed := th.observe(v); changed != (th.set != before) {
				t.Errorf("%s: changed is %v at %v", c.name, changed, v)
			}
			got += map[bool]string{true: "S", false: "."}[th.set]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRate_CountsTheNewestWindowPerMinute(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1_000_000+int64(seconds), 0) }
	r := rate{window: 30 * time.Second}
	for _, c := range []struct {
		seconds int
		total   float64
		want    float64
	}{
		{0, 100, 0}, {10, 101, 2}, {20, 105, 10}, {30, 105, 10}, {40, 105, 8}, {50, 105, 0}, {60, 106, 2},
		{70, 0, 0}, {80, 1, 2}, // the agent counts from the beginning
		{1000, 24, 1.5}, // 23 in 920 s of which nobody knows more
	} {
		if got := r.perMinute(c.total, at(c.seconds)); got != c.want {
			t.Errorf("after %d s: %v per minute, want %v", c.seconds, got, c.want)
		}
	}
}

// A ticker is never exact: a value that is slightly younger than the window must not make the previous value count as
// if it had the age of the window.
func TestRate_AreTheSameWhenLooksComeALittleEarlyOrLate(t *testing.T) {
	for _, window := range []time.Duration{10 * time.Second, time.Minute} {
		r, total := rate{window: window}, 0.0
		for i := range 1000 {
			jitter := time.Duration(rand.IntN(20)-10) * time.Millisecond
			total++ // six a minute
			got := r.perMinute(total, time.Unix(1_000_000, 0).Add(time.Duration(i)*10*time.Second+jitter))
			if i > 7 && (got < 5.9 || got > 6.1) {
				t.Fatalf("window %v, look %d: %.2f a minute, want 6", window, i, got)
			}
		}
	}
}

func TestRate_RemembersNoMoreThanItsWindow(t *testing.T) {
	r := rate{window: time.Minute}
	now, total := time.Unix(1e9, 0), 0.0
	for range 10_000 {
		now, total = now.Add(time.Second), total+float64(rand.IntN(3))
		r.perMinute(total, now)
	}
	if len(r.points) > 61 {
		t.Errorf("%d points for a minute of seconds", len(r.points))
	}
}
