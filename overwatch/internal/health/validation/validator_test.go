package validation // inside: it shares world_test.go

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

func TestFirstCycle_WaitsForAnAttemptOfEveryInitialTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1), target(2))
		slow := target(2).ID
		w.answer = func(_ context.Context, id registry.ID) check.Result {
			if id == slow {
				time.Sleep(timeout) // virtual
			}
			return check.Result{Outcome: check.Unknown, Err: "no descriptors", At: time.Now()}
		}
		v := w.run(t, 0)
		after(timeout - time.Second)
		if cycled(v) {
			t.Error("the first cycle is done while a check is under way")
		}
		w.set(target(1), target(2), target(3)) // the first cycle does not wait for a later target
		after(2 * time.Second)
		if !cycled(v) {
			t.Error("every target was attempted, yet the cycle is not done")
		}
	})
}

func TestFirstCycle_AtOnceWithoutTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newWorld().run(t, 0)
		synctest.Wait()
		if !cycled(v) {
			t.Error("nothing is to be checked, yet the cycle is not done")
		}
	})
}

func TestCheckNow_ReturnsVerdictsOfChecksThatBeganAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(targets(20)...)
		w.answer = func(context.Context, registry.ID) check.Result {
			time.Sleep(timeout / 2) // virtual
			return check.Result{Outcome: check.Success, At: time.Now()}
		}
		v := w.run(t, 0)
		after(10 * time.Millisecond) // some of the first checks are running, some have not begun
		call := time.Now()
		odd := func(id registry.ID) bool { return id.Address.As4()[3]%2 == 1 }
		got, err := v.CheckNow(t.Context(), odd)
		if err != nil || len(got) != 10 {
			t.Fatalf("%d verdicts, %v; want 10", len(got), err)
		}
		for i, verdict := range got {
			if !odd(verdict.ID) || verdict.State != check.StateHealthy || verdict.At.Before(call.Add(timeout/2)) {
				t.Errorf("%+v is not what was asked for", verdict)
			}
			if i > 0 && got[i-1].ID.Compare(verdict.ID) >= 0 {
				t.Error("the verdicts are not ordered")
			}
		}
		if took := time.Since(call); took > timeout {
			t.Errorf("took %s", took)
		}
		after(interval)
		for _, target := range w.CheckTargets() {
			starts := w.started(target.ID)
			if last := starts[len(starts)-1]; time.Since(last) > interval {
				t.Errorf("%s is no longer checked", target.ID)
			}
		}
	})
}

// If the list of targets takes long to create, it is created rarely, except for a request for a check.
func TestCheckNow_KnowsWhatCameJustBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		w.listing = 50 * time.Millisecond
		v := w.run(t, 0)
		after(interval)
		w.set(target(1), target(2))
		after(2 * followInterval) // the new list has been read
		w.set(target(1), target(2), target(3))
		got, err := v.CheckNow(t.Context(), func(id registry.ID) bool { return id == target(3).ID })
		if err != nil || len(got) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestCheckNow_DoesNotWaitForADroppedTargetOrForNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(target(1))
		w.answer = func(ctx context.Context, _ registry.ID) check.Result {
			<-ctx.Done()
			return check.Result{}
		}
		v := w.run(t, 0)
		after(time.Second)
		if got, err := v.CheckNow(t.Context(), func(registry.ID) bool { return false }); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
		time.AfterFunc(time.Second, func() { w.set() })
		if got, err := v.CheckNow(t.Context(), func(registry.ID) bool { return true }); err != nil || len(got) != 0 {
			t.Errorf("%v, %v", got, err)
		}
		w.set(target(1))
		after(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := v.CheckNow(ctx, func(registry.ID) bool { return true }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the caller's deadline", err)
		}
	})
}

func TestNew_NamesWhatIsWrong(t *testing.T) {
	good := Options{Targets: newWorld(), Report: newWorld().report, Settings: settingsOf(0),
		Registerer: prometheus.NewRegistry()}
	for name, damage := range map[string]func(*Options){
		"no targets":           func(o *Options) { o.Targets = nil },
		"no report":            func(o *Options) { o.Report = nil },
		"no registerer":        func(o *Options) { o.Registerer = nil },
		"no interval":          func(o *Options) { o.Settings.Interval = 0 },
		"timeout > interval":   func(o *Options) { o.Settings.Timeout = interval + 1 },
		"threshold of 1001":    func(o *Options) { o.Settings.FailureThreshold = 1001 },
		"negative concurrency": func(o *Options) { o.Settings.Concurrency = -1 },
	} {
		o := good
		damage(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	if _, err := New(good); err == nil {
		t.Error("registering the metrics twice must be an error")
	}
}
