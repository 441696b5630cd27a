package status_test

import (
	"math"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/wire"
)

var begin = time.Unix(1_000_000_000, 0)

func TestRamp_ShareAndNextStepOfADrain(t *testing.T) {
	const second = time.Second
	for _, tc := range []struct {
		to          float64
		over, after time.Duration
		share       float64
		next        time.Duration // after the start; 0: none
	}{
		{0, 100 * second, -second, 1, 5 * second}, // Since is later than now, because a clock was ahead
		{0, 100 * second, 0, 1, 5 * second},
		{0, 100 * second, 24 * second, 0.8, 25 * second},
		{0, 100 * second, 25 * second, 0.75, 30 * second},
		{0, 100 * second, 99 * second, 0.05, 100 * second},
		{0, 100 * second, 100 * second, 0, 0},
		{0.5, 100 * second, 50 * second, 0.75, 55 * second},
		{0.5, 100 * second, time.Hour, 0.5, 0},
		{0.2, 0, 0, 0.2, 0},
		{0, 48 * time.Hour, 12 * time.Hour, 0.5, 12*time.Hour + status.MaxRampTime/status.DrainSteps}, // of 24 hours
	} {
		r, now := status.Drain(begin, tc.over, tc.to), begin.Add(tc.after)
		next, moving := r.NextStep(now)
		if share := r.Share(now); math.Abs(share-tc.share) > 1e-9 || moving != (tc.next > 0) ||
			moving && !next.Equal(begin.Add(tc.next)) {
			t.Errorf("to %v over %v after %v: share %v, next step %v, %v; want %v, %v", tc.to, tc.over, tc.after, share,
				next.Sub(begin), moving, tc.share, tc.next)
		}
	}
}

func TestRamp_ANewDrainNeverRaisesTheShare(t *testing.T) {
	for _, tc := range []struct {
		first, second float64
		over          time.Duration
		after         time.Duration
	}{{0, 0, 100, 50}, {0.5, 0, 100, 50}, {0.5, 0, 100, 1000}, {0, 0.5, 100, 30}, {0, 0.5, 100, 90}, {0, 0, 0, 0}} {
		first := status.Drain(begin, tc.over*time.Second, tc.first)
		now := begin.Add(tc.after * time.Second)
		second := status.Drain(now, 60*time.Second, tc.second)
		second.ContinueFrom(&first, now)
		if got, before := second.Share(now), max(first.Share(now), tc.second); got > before+1e-9 {
			t.Errorf("%+v: the share rises from %v to %v", tc, before, got)
		}
	}
}

func TestLowest_IsTheDrainThatEndsLowestThenFirst(t *testing.T) {
	low, early, late := status.Drain(begin, time.Hour, 0), status.Drain(begin, time.Minute, 0.5), status.Drain(begin,
		time.Hour, 0.5)
	for _, tc := range []struct{ a, b, want *status.Ramp }{
		{nil, nil, nil}, {&late, nil, &late}, {nil, &late, &late}, {&late, &early, &early}, {&early, &late, &early},
		{&early, &low, &low},
	} {
		if got := status.Lowest(tc.a, tc.b); got != tc.want {
			t.Errorf("of %v and %v: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestWarnings_TheLowestShareCountsAndALastingWarningPrecedes(t *testing.T) {
	var w status.Warnings
	at := func(s time.Duration) time.Time { return begin.Add(s * time.Second) }
	for _, step := range []struct {
		reported wire.Warnings
		at       time.Duration
		share    float64
		reason   string
	}{
		{wire.Warnings{}, 0, 1, ""},
		{wire.Warnings{CPUMillis: 30_000}, 0, 1, status.ReasonWarnsOfCPU},
		{wire.Warnings{CPUMillis: 30_000, MemoryMillis: 60_000}, 15, 0.55, status.ReasonWarnsOfCPU},
		{wire.Warnings{MemoryMillis: 60_000}, 15, 0.55, status.ReasonWarningEnded},
		{wire.Warnings{MemoryMillis: 60_000}, 45, 0.55, status.ReasonWarnsOfMemory},
		{wire.Warnings{ErrorRateMillis: 1000}, 46, 0.5, status.ReasonWarningEnded},
		{wire.Warnings{ErrorRateMillis: 1000}, 47, 0.1, status.ReasonWarnsOfErrors},
		{wire.Warnings{}, 47, 0.1, status.ReasonWarningEnded},
		{wire.Warnings{}, 200, 1, ""},
	} {
		w.Update(step.reported, at(step.at))
		if share, reason := w.Share(at(step.at)); math.Abs(share-step.share) > 1e-9 || reason != step.reason {
			t.Errorf("%+v at %d s: %v, %q; want %v, %q", step.reported, step.at, share, reason, step.share, step.reason)
		}
	}
	if w != (status.Warnings{}) {
		t.Errorf("the warnings never end: %+v", w)
	}
}

// Stored ramps may be damaged, or may be from a wrong clock.
func TestRestoredWarning_IsWithinItsBounds(t *testing.T) {
	for name, r := range map[string]status.Ramp{
		"later":        status.RestoredWarning(begin.Add(time.Hour), time.Minute, 0, false),
		"too deep":     status.RestoredWarning(begin, time.Minute, time.Hour, false),
		"negative":     status.RestoredWarning(begin, time.Minute, -time.Hour, false),
		"longest":      status.RestoredWarning(begin, 1<<62, 1<<61, false),
		"rising":       status.RestoredWarning(begin, 1<<62, 1<<61, true),
		"before epoch": status.RestoredWarning(time.Time{}, time.Minute, 0, true),
	} {
		if share := r.Share(begin); !r.IsActive() || share < status.LeastShare-1e-9 || share > 1 ||
			r.Over > status.MaxRampTime || r.Depth < 0 || r.Depth > r.Over {
			t.Errorf("%s: share %v of %+v", name, share, r)
		}
	}
	for _, over := range []time.Duration{0, -time.Minute, time.Microsecond} {
		if r := status.RestoredWarning(begin, over, 5, false); r.IsActive() {
			t.Errorf("a ramp over %v is restored", over)
		}
	}
}

func FuzzWarnings_StayWithinTheirBoundsAndEnd(f *testing.F) {
	f.Add(uint32(30_000), uint32(1000), uint32(7), uint32(40_000))
	f.Add(uint32(1), uint32(1<<31), uint32(0), uint32(1))
	f.Fuzz(func(t *testing.T, over, other, first, second uint32) {
		now := begin
		var w status.Warnings
		r := &w[status.WarningCPU]
		for _, turn := range []struct{ over, wait uint32 }{{over, first}, {0, second}, {other, first}, {over, second},
			{0, 0}} {
			w.Update(wire.Warnings{CPUMillis: turn.over}, now)
			for range status.WarningSteps + 1 {
				share := r.Share(now)
				if share < status.LeastShare-1e-9 || share > 1 || math.IsNaN(share) {
					t.Fatalf("share %v of %+v", share, r)
				}
				next, moving := r.NextStep(now)
				if !moving || next.After(now.Add(time.Duration(turn.wait)*time.Millisecond)) {
					break
				}
				if now = next; r.Share(now) == share {
					t.Fatalf("nothing changes at the next step of %+v", r)
				}
			}
		}
		w.Update(wire.Warnings{}, now.Add(48*time.Hour))
		if w != (status.Warnings{}) {
			t.Errorf("%+v never ends", w)
		}
	})
}
