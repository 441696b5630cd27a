package validation // inside: it uses the world of the other tests

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// A hint moves the next check forward, and the fast interval then finds a dead backend within three timeouts. Checks of
// other backends, running checks and unknown backends stay as they are.
func TestHints_CheckTheBackendSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead := target(1)
		dead.Spec.FastInterval = time.Second
		w := newWorld(dead, target(2))
		v := w.run(t, 0)
		after(2*interval + interval/2)
		other := len(w.started(target(2).ID))
		w.mu.Lock()
		w.answer = func(_ context.Context, id registry.ID) check.Result {
			if id != dead.ID {
				return check.Result{Outcome: check.Success, At: time.Now()}
			}
			time.Sleep(timeout) // virtual
			return check.Result{Outcome: check.Failure, Err: "timeout", At: time.Now()}
		}
		w.mu.Unlock()
		began := time.Now()
		v.options.Hints.Add(dead.ID)
		v.options.Hints.Add(target(9).ID) // unknown
		after(time.Second)
		v.options.Hints.Add(dead.ID) // its check runs
		for {
			found := w.verdicts(dead.ID)
			if last := found[len(found)-1]; last.State == check.StateUnhealthy {
				if took := last.At.Sub(began); took > 3*timeout+time.Second {
					t.Errorf("the backend is unhealthy after %s", took)
				}
				break
			}
			if time.Since(began) > interval {
				t.Fatalf("verdicts: %+v", found)
			}
			after(time.Second)
		}
		if n := len(w.started(target(2).ID)); n > other+1 {
			t.Errorf("the other backend was checked %d times", n-other)
		}
	})
}

// A hint about a recovered backend moves the next check forward. The fast interval then applies until the success
// threshold, so that the backend does not wait for the next interval.
func TestHints_FindARecoverySoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := target(1)
		back.Spec.FastInterval, back.Spec.SuccessThreshold = time.Second, 2
		w := newWorld(back)
		w.fail()
		v := w.run(t, 0)
		after(4*interval + interval/2)
		latest := func() registry.CheckResult {
			found := w.verdicts(back.ID)
			return found[len(found)-1]
		}
		if last := latest(); last.State != check.StateUnhealthy {
			t.Fatalf("before: %+v", last)
		}
		w.mu.Lock()
		w.answer = nil
		w.mu.Unlock()
		v.options.Hints.Add(back.ID)
		after(1500 * time.Millisecond)
		if last := latest(); last.State != check.StateHealthy {
			t.Errorf("1.5 s after the recovery: %+v", last)
		}
	})
}

// Continuous hints do not raise the rate of checks above that of a failing backend: a fast interval lies between two
// checks. The hint after a check is delayed, and takes effect.
func TestHints_LeaveAFastIntervalBetweenChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hinted := target(1)
		hinted.Spec.FastInterval = 2 * time.Second
		w := newWorld(hinted)
		v := w.run(t, 0)
		after(2 * interval)
		before := len(w.started(hinted.ID))
		for range 200 {
			v.options.Hints.Add(hinted.ID)
			after(100 * time.Millisecond)
		}
		if n := len(w.started(hinted.ID)) - before; n < 9 || n > 11 {
			t.Errorf("%d checks in 20 s of hints", n)
		}
	})
}

// The checks of many hinted backends are spread, so that they do not take a core from DNS.
func TestHints_SpreadTheChecksOfManyBackends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(2000)...)
		v := w.run(t, 0)
		after(2 * interval)
		began := time.Now()
		for _, target := range w.CheckTargets() {
			v.options.Hints.Add(target.ID)
		}
		after(3 * time.Second)
		first := 0
		for _, target := range w.CheckTargets() {
			starts := w.started(target.ID)
			last := starts[len(starts)-1]
			if last.Before(began) {
				t.Fatalf("%s was not checked", target.ID)
			}
			if last.Sub(began) < time.Second {
				first++
			}
		}
		if first < 500 || first > 1500 {
			t.Errorf("%d of 2000 checks began in the first second", first)
		}
	})
}
