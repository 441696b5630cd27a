package wallclock_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/leaf/wallclock"
)

func TestWatch_SeesThatTheClockWasSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w wallclock.Watch
		off := time.Duration(0)
		for i, step := range []struct {
			set, passes time.Duration
			want        bool
		}{{-48 * time.Hour, 0, false}, {0, time.Hour, false}, {time.Second, time.Hour, false},
			{400 * 24 * time.Hour, 0, true}, {0, time.Minute, false}, {-time.Hour, time.Hour, true}} {
			time.Sleep(step.passes) // virtual
			off += step.set
			if got := w.Jumped(time.Now().Add(off)); got != step.want {
				t.Errorf("step %d: %v, want %v", i, got, step.want)
			}
		}
	})
}
