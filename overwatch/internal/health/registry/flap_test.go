package registry // inside: it shares world_test.go

import (
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// A backend flaps from its third stop within the window until the window of these stops is over.
func TestFlap_ThreeStopsWithinTheWindow(t *testing.T) {
	inWorld(t, validating, func(w *world) {
		agent := w.authority.agent("agent", "eu", "a.example")
		const spot = "a.example:10.0.0.1:80"
		say := func(word string) {
			w.beat(agent, spot+" "+word)
			w.verdict(spot, check.Success)
		}
		want := func(when, reason string) {
			t.Helper()
			if got := w.View().Get(id(spot)).FlapReason; got != reason {
				t.Errorf("%s: %q, want %q", when, got, reason)
			}
		}
		live := func(d time.Duration, word string) {
			for ; d > 0; d -= 10 * time.Second {
				w.pass(min(d, 10*time.Second))
				say(word)
			}
		}
		say("healthy")
		for range 2 {
			say("unhealthy")
			live(time.Minute, "unhealthy")
			say("healthy")
			live(time.Minute, "healthy")
		}
		want("two stops", "")
		say("unhealthy")
		want("three stops", status.ReasonAgentUnhealthy)
		say("healthy")
		want("it serves", status.ReasonAgentUnhealthy)
		live(DefaultFlapWindow-4*time.Minute-10*time.Second, "healthy")
		want("before the end", status.ReasonAgentUnhealthy)
		live(20*time.Second, "healthy")
		want("after the window", "")
		for range 3 { // stops by an operator do not count as flaps
			w.must(w.SetAdminState(w.ctx(), down("a.example", "10.0.0.1", 0)))
			w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 0))
		}
		want("an operator stops it", "")
	})
}
