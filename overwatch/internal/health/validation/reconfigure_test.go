package validation // inside: it shares world_test.go

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// reconfigure applies other settings.
func reconfigure(t *testing.T, v *Validator, s Settings) {
	t.Helper()
	if err := v.Reconfigure(s); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func TestReconfigure_ChecksEndAndBeginAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(20)...)
		off := settingsOf(0)
		off.Enabled = false
		v := w.run(t, 0)
		after(2 * interval)
		reconfigure(t, v, off)
		told := w.told()
		if after(5 * interval); told == 0 || w.told() != told {
			t.Fatalf("%d checks before checks were switched off, %d afterwards", told, w.told()-told)
		}
		w.set(targets(30)...)
		reconfigure(t, v, settingsOf(0))
		after(interval)
		for _, target := range w.CheckTargets() {
			if n := len(w.started(target.ID)); n < 1 {
				t.Errorf("%s was not checked after checks were switched on", target.ID)
			}
		}
	})
}

// A node that starts without own checks does not wait for them, and makes them after they are enabled.
func TestReconfigure_ChecksThatWereOffAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(5)...)
		v := w.run(t, -1)
		after(2 * interval)
		if !cycled(v) || w.told() > 0 {
			t.Fatalf("first cycle done: %t, %d checks", cycled(v), w.told())
		}
		if err := v.Reconfigure(settingsOf(0)); err != nil {
			t.Fatal(err)
		}
		verdicts, err := v.CheckNow(t.Context(), func(registry.ID) bool { return true })
		if err != nil || len(verdicts) != 5 {
			t.Errorf("%d verdicts at once, %v", len(verdicts), err)
		}
	})
}

// Changed thresholds apply from the next check to all checks without their own thresholds.
func TestReconfigure_Thresholds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, plain := target(1), target(2)
		plain.Spec.FailureThreshold, plain.Spec.SuccessThreshold = 0, 0
		w := newWorld(own, plain)
		v := w.run(t, 0)
		after(3 * interval)
		longer := settingsOf(0)
		longer.FailureThreshold = 5
		reconfigure(t, v, longer)
		w.fail()
		after(20 * interval)
		for id, want := range map[registry.ID]int{own.ID: 3, plain.ID: 5} {
			failures := 0
			for _, verdict := range w.verdicts(id) {
				if verdict.Outcome == check.Failure && verdict.State == check.StateHealthy {
					failures++
				}
			}
			if failures++; failures != want {
				t.Errorf("%s is unhealthy after %d failed checks, want %d", id, failures, want)
			}
		}
	})
}

// A changed limit of concurrent checks applies immediately.
func TestReconfigure_Concurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(40)...)
		w.answer = func(ctx context.Context, _ registry.ID) check.Result {
			<-ctx.Done()
			return check.Result{Outcome: check.Unknown, At: time.Now()}
		}
		v := w.run(t, 2)
		after(time.Second)
		if running, _ := w.load(); running != 2 {
			t.Fatalf("%d checks under way, want 2", running)
		}
		reconfigure(t, v, settingsOf(30))
		if running, _ := w.load(); running != 30 {
			t.Errorf("%d checks under way, want 30", running)
		}
	})
}
