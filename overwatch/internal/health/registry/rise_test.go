package registry // inside: it shares world_test.go

import (
	"context"
	"math"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
)

// With recovery.ramp, a backend that was down returns with a tenth of its share, which increases to the full share.
func TestRecovery_TheShareRisesAfterAFailure(t *testing.T) {
	const ramp = 18 * time.Minute
	inWorld(t, notValidating, func(w *world) {
		w.restart(Options{Timing: notValidating, RecoveryRamp: func(service string) time.Duration {
			if service == "a.example" {
				return ramp
			}
			return 0
		}})
		agent := w.authority.agent("agent", "eu", "a.example", "b.example")
		words := map[string]string{}
		live := func(d time.Duration, word string) {
			t.Helper()
			for _, one := range []string{"a", "b"} {
				words[one] = one + ".example:10.0.0.1:80 " + word
			}
			for w.beat(agent, words["a"], words["b"]); d > 0; d -= 10 * time.Second {
				w.pass(min(d, 10*time.Second))
				w.beat(agent, words["a"], words["b"])
			}
		}
		want := func(when string, share float64, reason string) {
			t.Helper()
			b, other := w.View().Get(id("a.example:10.0.0.1:80")), w.View().Get(id("b.example:10.0.0.1:80"))
			if math.Abs(b.Share-share) > 1e-9 || b.Reason != reason {
				t.Errorf("%s: share %v, want %v; %s, want %s", when, b.Share, share, b.Reason, reason)
			}
			if other.MayServe && other.Share != 1 {
				t.Errorf("%s: the backend without a ramp has share %v", when, other.Share)
			}
		}
		live(time.Minute, "healthy")
		want("new", 1, status.ReasonAgentHealthy)
		live(time.Minute, "unhealthy")
		live(0, "healthy")
		want("back", 0.1, status.ReasonRecovering)
		live(ramp/2, "healthy")
		want("half of the time", 0.55, status.ReasonRecovering)
		override := down("a.example", "10.0.0.1", 0)
		override.Healthy = true
		w.must(w.SetAdminState(w.ctx(), override))
		want("an override", 1, status.ReasonOverrideHealthy)
		w.must(w.ClearAdminState(w.ctx(), api.OrderOverride, "a.example", addr("10.0.0.1"), 0))
		want("after the override", 1, status.ReasonAgentHealthy)
		live(time.Minute, "unhealthy")
		live(ramp/2, "healthy")
		live(10*time.Second, "unhealthy")
		live(0, "healthy")
		want("down again", 0.1, status.ReasonRecovering)
		live(ramp, "healthy")
		want("the end", 1, status.ReasonAgentHealthy)
		if _, err := w.SetDrain(context.Background(), id("a.example:10.0.0.1:80"), 0); err != nil {
			t.Fatal(err)
		}
		live(time.Minute, "healthy")
		w.must(w.ClearDrain(w.ctx(), id("a.example:10.0.0.1:80")))
		want("after a drain", 1, status.ReasonAgentHealthy)
	})
}
