package validation // inside: it uses heavyConcurrency, metrics and prober

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

func TestRun_ChecksEveryTargetOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(500)...)
		w.run(t, 0)
		begin := time.Now()
		after(10 * interval)
		for _, target := range w.CheckTargets() {
			starts := w.started(target.ID)
			if first := starts[0].Sub(begin); first > 500*time.Millisecond {
				t.Fatalf("%s was first checked after %s", target.ID, first)
			}
			if gap := starts[1].Sub(starts[0]); gap < interval/2 || gap > interval {
				t.Fatalf("%s: the second check came after %s", target.ID, gap)
			}
			for i := 2; i < len(starts); i++ {
				if gap := starts[i].Sub(starts[i-1]); gap != interval {
					t.Fatalf("%s: check %d came after %s", target.ID, i, gap)
				}
			}
			if len(starts) < 10 || len(starts) > 11 {
				t.Fatalf("%s was checked %d times in ten intervals", target.ID, len(starts))
			}
		}
	})
}

func TestRun_SpreadsTargetsThatCameTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(1000)...)
		w.run(t, 0)
		after(5 * interval)
		perSecond := map[time.Time]int{}
		for _, target := range w.CheckTargets() {
			starts := w.started(target.ID)
			perSecond[starts[len(starts)-1].Truncate(time.Second)]++
		}
		for second, n := range perSecond {
			// Half of the interval is 15 s, which has 67 checks if they are spread evenly.
			if n > 140 {
				t.Errorf("%d of 1000 checks began in the second of %s", n, second)
			}
		}
	})
}

func TestRun_ReportsTheStateByTheBackendsOwnThresholds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		outcomes := []check.Outcome{check.Success, check.Failure, check.Failure, check.Unknown, check.Failure, check.Success,
			check.Success}
		w.answer = func(context.Context, registry.ID) check.Result {
			o := outcomes[min(w.told(), len(outcomes)-1)]
			return check.Result{Outcome: o, Err: o.String(), Latency: time.Second, At: time.Now()}
		}
		w.run(t, 0)
		after(time.Duration(len(outcomes)) * interval)
		const h, u = check.StateHealthy, check.StateUnhealthy
		want := []check.State{h, h, h, h, u, u, h}
		got := w.verdicts(target(1).ID)
		if len(got) < len(want) {
			t.Fatalf("%d verdicts, want %d", len(got), len(want))
		}
		for i, state := range want {
			v := got[i]
			if v.State != state || v.Outcome != outcomes[i] || v.Err != outcomes[i].String() || v.Latency != time.Second ||
				v.At.IsZero() {
				t.Errorf("verdict %d is %+v, want state %s after %s", i, v, state, outcomes[i])
			}
		}
	})
}

func TestRun_NeverHasMoreChecksUnderWayThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(100)...)
		w.answer = func(context.Context, registry.ID) check.Result {
			time.Sleep(timeout) // virtual
			return check.Result{Outcome: check.Failure, At: time.Now()}
		}
		v := w.run(t, 10)
		after(2 * time.Second)
		if got := gauge(t, v.metrics.inFlight); got != 10 {
			t.Errorf("%v checks in flight, want 10", got)
		}
		if got := gauge(t, v.metrics.lag); got < 1 {
			t.Errorf("the lag is %vs with 90 checks waiting", got)
		}
		after(3 * interval)
		if _, most := w.load(); most != 10 {
			t.Errorf("%d checks at once, want 10", most)
		}
		for _, target := range w.CheckTargets() {
			if n := len(w.started(target.ID)); n < 1 {
				t.Errorf("%s starved", target.ID)
			}
		}
	})
}

func TestRun_FollowsTheTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1), target(2))
		w.run(t, 0)
		after(interval)
		one, two := len(w.started(target(1).ID)), len(w.started(target(2).ID))
		w.set(target(2), target(3))
		after(time.Second)
		if len(w.started(target(3).ID)) != 1 {
			t.Error("a new target was not checked within a second")
		}
		after(3 * interval)
		if n := len(w.started(target(1).ID)); n != one {
			t.Error("a dropped target was checked again")
		}
		if n := len(w.started(target(2).ID)); n != two+3 {
			t.Errorf("a target that stayed was checked %d times in three intervals", n-two)
		}
	})
}

// answers sets the result of all further checks of every backend, and their duration.
func (w *world) answers(outcome check.Outcome, takes time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(context.Context, registry.ID) check.Result {
		time.Sleep(takes) // virtual
		return check.Result{Outcome: outcome, At: time.Now()}
	}
}

// states returns the states of the last results of a backend.
func (w *world) states(id registry.ID, n int) []check.State {
	var states []check.State
	all := w.verdicts(id)
	for _, v := range all[max(len(all)-n, 0):] {
		states = append(states, v.State)
	}
	return states
}

// A changed check begins soon. The known state stays until the thresholds of the new check decide, whether or not a
// check is running.
func TestRun_AnotherCheckBeginsSoonAndKeepsTheStateUntilItsThresholdsDecide(t *testing.T) {
	for name, takes := range map[string]time.Duration{"between two checks": 0, "during one": timeout} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(evenTarget(1))
				w.run(t, 0)
				after(interval)
				w.answers(check.Failure, takes)
				after(interval)
				for start := len(w.started(target(1).ID)); takes > 0 && len(w.started(target(1).ID)) == start; {
					after(time.Second)
				}
				changed := evenTarget(1)
				changed.Spec.Host, changed.Spec.FailureThreshold = "other.example.org", 2
				w.set(changed)
				before := len(w.started(changed.ID))
				after(2*timeout + time.Second) // the running check, the new check, and the time until the change is noticed
				if n := len(w.started(changed.ID)) - before; n != 1 {
					t.Fatalf("%d checks began within %s of the change", n, 2*timeout+time.Second)
				}
				if got := w.states(changed.ID, 1); got[0] != check.StateHealthy {
					t.Errorf("%v after one failure of the new check, which takes 2", got)
				}
				after(interval)
				if got := w.states(changed.ID, 1); got[0] != check.StateUnhealthy {
					t.Errorf("%v after two failures of the new check", got)
				}
			})
		})
	}
}

func TestRun_OtherThresholdsKeepWhatIsKnownAndWhenTheCheckIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(evenTarget(1))
		w.run(t, 0)
		after(2 * interval)
		w.answers(check.Failure, 0)
		after(interval)
		changed, before := evenTarget(1), w.started(target(1).ID)
		changed.Spec.FailureThreshold = 2
		w.set(changed)
		after(interval)
		starts := w.started(changed.ID)
		if len(starts) != len(before)+1 || starts[len(starts)-1].Sub(before[len(before)-1]) != interval {
			t.Errorf("checked at %v, before the change at %v", starts, before)
		}
		if got := w.states(changed.ID, 2); !slices.Equal(got, []check.State{check.StateHealthy, check.StateUnhealthy}) {
			t.Errorf("%v: the failure before the change counts, so one more is enough", got)
		}
	})
}

func TestRun_ChecksThatWereHeldUpSayNothingUntilThereAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		w.answer = func(context.Context, registry.ID) check.Result {
			return check.Result{HeldUp: true, Err: "held up", At: time.Now()}
		}
		v := w.run(t, 0)
		after((check.MaxHeldUp + 2) * interval)
		var outcomes []check.Outcome
		for _, verdict := range w.verdicts(target(1).ID)[:check.MaxHeldUp+1] {
			outcomes = append(outcomes, verdict.Outcome)
		}
		want := append(slices.Repeat([]check.Outcome{check.Unknown}, check.MaxHeldUp), check.Failure)
		if !slices.Equal(outcomes, want) {
			t.Errorf("%v, want %v", outcomes, want)
		}
		if n := gauge(t, v.metrics.heldUp); int(n) != w.told() {
			t.Errorf("%v are counted, of %d", n, w.told())
		}
	})
}

// One success in a series of failures does not change a backend that was unhealthy before the restart.
func TestRun_BackendThatWasUnhealthyNeedsItsSuccessThreshold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		was, fresh := evenTarget(1), evenTarget(2)
		was.WasUnhealthy = true
		w := newWorld(was, fresh)
		w.run(t, 0)
		after(time.Second)
		if a, b := w.states(was.ID, 1), w.states(fresh.ID, 1); a[0] != check.StateUnknown || b[0] != check.StateHealthy {
			t.Errorf("after one success: %v of the one that was unhealthy, %v of a new one", a, b)
		}
		after(interval)
		if got := w.states(was.ID, 1); got[0] != check.StateHealthy {
			t.Errorf("after success_threshold of them: %v", got)
		}
	})
}

// A failure that occurred while the node was down is found in a fraction of the normal detection time. After the first
// result, checks have their normal interval. A check without a result is not repeated earlier.
func TestRun_WhatHasNoVerdictYetIsCheckedAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, wary, unknown := target(1), target(2), target(3)
		dead.Spec.FailureThreshold = 5
		wary.WasUnhealthy, wary.Spec.SuccessThreshold = true, 5
		w := newWorld(dead, wary, unknown)
		w.answer = func(_ context.Context, id registry.ID) check.Result {
			outcomes := map[registry.ID]check.Outcome{dead.ID: check.Failure, wary.ID: check.Success, unknown.ID: check.Unknown}
			return check.Result{Outcome: outcomes[id], At: time.Now()}
		}
		w.run(t, 0)
		after(interval + time.Second) // four quarters, and the spread of the start
		if a, b := w.states(dead.ID, 1), w.states(wary.ID, 1); a[0] != check.StateUnhealthy || b[0] != check.StateHealthy {
			t.Errorf("after an interval: %v of the dead one, %v of the one that was unhealthy", a, b)
		}
		if n := len(w.started(unknown.ID)); n > 2 {
			t.Errorf("%d checks were made of what nothing can be said of", n)
		}
		before := len(w.started(dead.ID))
		after(3 * interval)
		if n := len(w.started(dead.ID)) - before; n < 2 || n > 4 {
			t.Errorf("%d checks were made in three intervals of what is decided", n)
		}
	})
}

// A check uses its own times if it has them, and otherwise the times of the node. Changed times do not restart a check,
// since one failed check could then remove a backend, and they also apply before the end of a longer interval.
func TestRun_TimesAreTheChecksOwnOrTheNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, plain := evenTarget(1), evenTarget(2)
		quick.Spec.Interval, quick.Spec.FastInterval, quick.Spec.Timeout = interval/10, interval/10, timeout/10
		w := newWorld(quick, plain)
		w.run(t, 0)
		gaps := func(id registry.ID, since time.Time) (gaps []time.Duration) {
			last := time.Time{}
			for _, at := range w.started(id) {
				if at.After(since) && !last.IsZero() {
					gaps = append(gaps, at.Sub(last))
				}
				last = at
			}
			return gaps
		}
		after(2 * interval) // with the first gap, which is shorter
		began := time.Now()
		after(2*interval + time.Second)
		if got := gaps(quick.ID, began); len(got) < 19 || slices.Max(got) != interval/10 || slices.Min(got) != interval/10 {
			t.Errorf("with an interval of %s: gaps %v", interval/10, got)
		}
		if got := gaps(plain.ID, began); len(got) != 2 || got[0] != interval || got[1] != interval {
			t.Errorf("with none of its own: gaps %v, want %s", got, interval)
		}
		w.mu.Lock()
		w.answer = func(context.Context, registry.ID) check.Result {
			return check.Result{Outcome: check.Failure, At: time.Now()}
		}
		w.mu.Unlock()
		changed := plain
		changed.Spec.Interval, changed.Spec.FastInterval, changed.Spec.Timeout = interval/10, interval/10, timeout/10
		before, now := len(w.started(plain.ID)), time.Now()
		w.set(quick, changed)
		after(interval/10 + time.Second) // including the time until the change is noticed
		got := w.verdicts(plain.ID)
		if n := len(w.started(plain.ID)) - before; n < 1 || n > 2 {
			t.Errorf("checked %d times in the %s after its interval became a tenth", n, time.Since(now))
		}
		if last := got[len(got)-1]; last.Outcome != check.Failure || last.State != check.StateHealthy {
			t.Errorf("%+v: fewer failures than failure_threshold asks for", last)
		}
	})
}

// After a result that contradicts the state, checks follow at the fast interval until the threshold decides: to
// unhealthy and back to healthy.
func TestRun_AContradictedStateIsCheckedAtTheFastInterval(t *testing.T) {
	const fast = 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		b := target(1)
		b.Spec.FastInterval, b.Spec.FailureThreshold, b.Spec.SuccessThreshold = fast, 3, 2
		w := newWorld(b)
		w.run(t, 0)
		after(2 * interval)
		w.answers(check.Failure, 0)
		after(interval + 2*fast)
		starts := w.started(b.ID)
		n := len(starts)
		if got := w.states(b.ID, 1)[0]; got != check.StateUnhealthy {
			t.Errorf("%v after an interval and two fast intervals with failures", got)
		}
		if got := w.failedGaps(b.ID); len(got) < 2 || got[0] != fast || got[1] != fast {
			t.Errorf("gaps of %v between failures, want %s until the state changes", got, fast)
		}
		after(2 * interval)
		if more := len(w.started(b.ID)) - n; more > 2 {
			t.Errorf("%d checks in two intervals of an unhealthy backend", more)
		}
		w.answers(check.Success, 0)
		after(interval + fast)
		if got := w.states(b.ID, 1)[0]; got != check.StateHealthy {
			t.Errorf("%v after an interval and a fast interval with successes", got)
		}
	})
}

func TestRun_TargetDroppedDuringItsCheckIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		w.answer = func(context.Context, registry.ID) check.Result {
			time.Sleep(timeout) // virtual
			return check.Result{Outcome: check.Success, At: time.Now()}
		}
		v := w.run(t, 0)
		after(time.Second)
		w.set()
		after(time.Second)
		if !cycled(v) {
			t.Error("the first cycle waits for a target that is gone")
		}
		after(interval)
		if n := len(w.verdicts(target(1).ID)); n != 0 {
			t.Errorf("%d verdicts of a dropped target", n)
		}
	})
}

func TestRun_CheckThatCannotBeMadeIsUnknownAndSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newer := target(1)
		newer.Spec.Type = "icmp"
		w := newWorld(newer)
		w.run(t, 0)
		after(time.Second)
		got := w.verdicts(newer.ID)
		if len(got) != 1 || got[0].State != check.StateUnknown || got[0].Outcome != check.Unknown || got[0].Err == "" {
			t.Errorf("%+v, want one unknown verdict with a reason", got)
		}
	})
}

func TestRun_StopsWithinAChecksTimeAndReportsNothingHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(20)...)
		w.answer = func(ctx context.Context, _ registry.ID) check.Result {
			<-ctx.Done()
			return check.Result{Outcome: check.Failure, At: time.Now()}
		}
		v, err := New(Options{Targets: w, Report: w.report, Settings: settingsOf(0),
			Registerer: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		v.newProber = func(target registry.CheckTarget) (prober, error) { return fake{w, target.ID}, nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := v.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if running, _ := w.load(); running != 0 || w.told() != 0 {
			t.Errorf("%d checks still run, %d verdicts were reported", running, w.told())
		}
		if _, err := v.CheckNow(t.Context(), func(registry.ID) bool { return true }); !errors.Is(err, ErrStopped) {
			t.Errorf("CheckNow after the end: %v", err)
		}
	})
}

// A changed interval applies immediately: no check waits for the rest of a long interval, and checks continue with the
// new interval.
func TestReconfigure_IsInForceFromTheNextCheckOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(50)...)
		v := w.run(t, 0)
		after(3 * interval)
		const short = interval / 10
		changed := time.Now()
		if err := v.Reconfigure(Settings{Enabled: true, Interval: short, Timeout: time.Second}); err != nil {
			t.Fatal(err)
		}
		after(5 * short)
		for _, target := range w.CheckTargets() {
			var since []time.Time
			for _, at := range w.started(target.ID) {
				if at.After(changed) {
					since = append(since, at)
				}
			}
			if len(since) < 4 || len(since) > 6 {
				t.Fatalf("%s was checked %d times in five of the new intervals", target.ID, len(since))
			}
			for i := 1; i < len(since); i++ {
				if gap := since[i].Sub(since[i-1]); gap != short {
					t.Fatalf("%s: a gap of %s, want %s", target.ID, gap, short)
				}
			}
		}
		if err := v.Reconfigure(Settings{Enabled: true, Interval: time.Second, Timeout: time.Minute}); err == nil {
			t.Error("a timeout longer than the interval is taken")
		}
	})
}

// matching returns a target whose check matches a pattern.
func matching(n int) registry.CheckTarget {
	t := target(n)
	t.Spec.Type, t.Spec.Path, t.Spec.Detail = check.HTTP, "/", check.Detail{BodyMatches: "ok"}.Details()
	return t
}

// Slow checks with patterns delay only each other.
func TestRun_ChecksWithPatternsDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := targets(100)
		isHeavy := map[registry.ID]bool{}
		for i := range 100 {
			list = append(list, matching(1000+i))
			isHeavy[list[len(list)-1].ID] = true
		}
		w := newWorld(list...)
		running, most := 0, 0 // under w.mu
		w.answer = func(ctx context.Context, id registry.ID) check.Result {
			if !isHeavy[id] {
				return check.Result{Outcome: check.Success, At: time.Now()}
			}
			w.mu.Lock()
			running++
			most = max(most, running)
			w.mu.Unlock()
			<-ctx.Done()
			return check.Result{}
		}
		w.run(t, 16)
		after(10 * interval)
		for _, target := range list[:100] {
			if n := len(w.started(target.ID)); n < 9 {
				t.Fatalf("%s was checked %d times in ten intervals", target.ID, n)
			}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if want := heavyConcurrency(16); most != want {
			t.Errorf("%d checks with patterns were under way at once, want %d", most, want)
		}
	})
}

// A check that gets or loses a pattern moves to the other part of the schedule.
func TestRun_ACheckThatGetsAPatternIsStillMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		w.run(t, 0)
		for _, next := range []registry.CheckTarget{matching(1), target(1), matching(1)} {
			after(interval)
			before := len(w.started(next.ID))
			w.set(next)
			after(2 * interval)
			if n := len(w.started(next.ID)); n < before+2 {
				t.Fatalf("checked %d times more after the change", n-before)
			}
		}
	})
}
