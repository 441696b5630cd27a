package registry // inside: it shares world_test.go

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

// With flap.delay, a flapping backend stays down for a delay. Each further stop doubles the delay.
func TestDamping_AFlappingBackendReturnsAfterADelay(t *testing.T) {
	inWorld(t, notValidating, func(w *world) {
		w.restart(Options{Timing: notValidating, Damping: func(service string) status.Damping {
			if service == "a.example" {
				return status.Damping{Delay: time.Minute, MaxDelay: 3 * time.Minute}
			}
			return status.Damping{}
		}})
		agent := w.authority.agent("agent", "eu", "a.example", "b.example")
		live := func(d time.Duration, word string) {
			for {
				w.beat(agent, "a.example:10.0.0.1:80 "+word, "b.example:10.0.0.1:80 "+word)
				if d <= 0 {
					return
				}
				w.pass(min(d, 10*time.Second))
				d -= 10 * time.Second
			}
		}
		want := func(when string, serves, other bool) {
			t.Helper()
			b := w.View().Get(id("a.example:10.0.0.1:80"))
			if b.MayServe != serves || !serves && b.Reason != status.ReasonDamped {
				t.Errorf("%s: serves %t, want %t: %s", when, b.MayServe, serves, b.Reason)
			}
			if got := w.View().Get(id("b.example:10.0.0.1:80")).MayServe; got != other {
				t.Errorf("%s: the backend without damping serves: %t", when, got)
			}
		}
		stop := func() {
			live(0, "unhealthy")
			live(0, "healthy")
		}
		live(0, "healthy")
		stop()
		want("one stop", true, true)
		stop()
		want("two stops", true, true)
		stop()
		want("three stops", false, true)
		live(50*time.Second, "healthy")
		want("before the end of the delay", false, true)
		live(10*time.Second, "healthy")
		want("after the delay", true, true)
		stop()
		live(110*time.Second, "healthy")
		want("in the doubled delay", false, true)
		live(10*time.Second, "healthy")
		want("after the doubled delay", true, true)
		stop()
		live(170*time.Second, "healthy")
		want("in the longest delay", false, true)
		live(10*time.Second, "healthy")
		want("after the longest delay", true, true)
		live(DefaultFlapWindow, "healthy")
		stop()
		want("a stop long after", true, true)
	})
}
