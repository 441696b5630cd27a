package monitor // inside: it looks at list and observe

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

// inRun runs a test with a running Monitor, in virtual time.
func inRun(t *testing.T, test func(r *rig), scripts ...*script) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, scripts...)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = r.Run(ctx, r.changed)
		}()
		time.Sleep(12 * time.Second)
		synctest.Wait()
		test(r)
		cancel()
		<-ended
	})
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.starts)
}

func TestReplace_WhatStaysIsCheckedAsBefore(t *testing.T) {
	p := outcomes(s)
	inRun(t, func(r *rig) {
		kept := r.list()[0]
		did, err := r.Replace([]Backend{backend(9000), backend(8000)})
		if err != nil || did != (Changes{Added: 1, Removed: 1}) {
			t.Fatalf("%+v, %v", did, err)
		}
		if r.list()[1] != kept {
			t.Error("the watch of the backend that stays is another")
		}
		got := r.Snapshot()
		if len(got) != 2 || got[0].Port != 9000 || got[0].Claim != wire.ClaimNone || got[1].Claim != wire.ClaimHealthy {
			t.Errorf("%+v", got)
		}
		before := p.count()
		time.Sleep(10 * time.Second)
		if n := p.count() - before; n != 2 {
			t.Errorf("%d checks in two intervals", n)
		}
		if got = r.Snapshot(); got[0].Claim != wire.ClaimNone || got[0].ConsecutiveFailures == 0 {
			t.Errorf("the new backend, of which nothing is known, has failed fewer checks than its threshold: %+v", got[0])
		}
		time.Sleep(5 * time.Second)
		if got = r.Snapshot(); got[0].Claim != wire.ClaimUnhealthy {
			t.Errorf("nobody listens there: %+v", got[0])
		}
	}, p, outcomes(s))
}

func TestReplace_WhatGoesIsNotCheckedAnyMore(t *testing.T) {
	p, gone := outcomes(s), outcomes(f)
	inRun(t, func(r *rig) {
		if _, err := r.Replace([]Backend{backend(8000)}); err != nil {
			t.Fatal(err)
		}
		before := gone.count()
		time.Sleep(time.Minute)
		if gone.count() != before || p.count() == before {
			t.Errorf("%d checks of the one that went", gone.count()-before)
		}
		for b := range r.Failures() {
			if b.Port == 8001 {
				t.Error("its failures are still counted")
			}
		}
	}, p, gone)
}

func TestReplace_AnotherCheckKeepsTheStateUntilItSaysOtherwise(t *testing.T) {
	inRun(t, func(r *rig) {
		heavier := backend(8000)
		heavier.Weight = 7
		heavier.Check.Path, heavier.Check.FailureThreshold = "/other", 1
		did, err := r.Replace([]Backend{heavier})
		if err != nil || did != (Changes{Changed: 1}) {
			t.Fatalf("%+v, %v", did, err)
		}
		got := r.Snapshot()[0]
		if got.Claim != wire.ClaimHealthy || got.Weight != 7 || got.Check.Path != "/other" || got.LatencyMicros == 0 {
			t.Errorf("%+v", got)
		}
		time.Sleep(2 * time.Second)
		if got = r.Snapshot()[0]; got.Claim != wire.ClaimUnhealthy {
			t.Errorf("nobody listens there, with a threshold of 1: %+v", got)
		}
	}, outcomes(s))
}

func TestReplace_ErrorChangesNothing(t *testing.T) {
	inRun(t, func(r *rig) {
		kept := r.list()[0]
		bad := backend(8001)
		bad.Check.Type = "nonsense"
		if _, err := r.Replace([]Backend{backend(9000), bad}); err == nil ||
			!strings.Contains(err.Error(), "app.example.org:127.0.0.1:8001") {
			t.Errorf("%v", err)
		}
		if _, err := r.Replace(make([]Backend, wire.MaxBackends+1)); err == nil {
			t.Error("too many backends")
		}
		if len(r.list()) != 1 || r.list()[0] != kept {
			t.Error("the backends changed")
		}
	}, outcomes(s))
}

func TestReplace_BeforeRunIsWhatRunBegins(t *testing.T) {
	r := newRig(t, outcomes(check.Success))
	if _, err := r.Replace([]Backend{backend(9000)}); err != nil {
		t.Fatal(err)
	}
	if got := r.Snapshot(); len(got) != 1 || got[0].Port != 9000 {
		t.Errorf("%+v", got)
	}
}

// An unhealthy backend with another check stays unhealthy until the check succeeds success_threshold times. The number
// of its failures continues.
func TestReplace_AnotherCheckOfWhatIsUnhealthyKeepsTheState(t *testing.T) {
	inRun(t, func(r *rig) {
		slower := backend(8000)
		slower.Check.Path = "/other"
		if _, err := r.Replace([]Backend{slower}); err != nil {
			t.Fatal(err)
		}
		for b, failures := range r.Failures() {
			if failures < 3 {
				t.Errorf("%d failures of %+v are counted", failures, b)
			}
		}
		r.list()[0].observe(check.Result{Outcome: s}, r.changed)
		if got := r.Snapshot()[0]; got.Claim != wire.ClaimUnhealthy || got.ConsecutiveSuccesses != 1 {
			t.Errorf("after one success of two: %+v", got)
		}
		r.list()[0].observe(check.Result{Outcome: f, Err: "status 500"}, r.changed)
		if got := r.Snapshot()[0]; got.Claim != wire.ClaimUnhealthy {
			t.Errorf("after a failure: %+v", got)
		}
	}, outcomes(f, f, f))
}

// After a change of the weight, the checks and the counts of the backend continue, and the change is reported
// immediately.
func TestReplace_AnotherWeightKeepsTheRow(t *testing.T) {
	inRun(t, func(r *rig) {
		before := r.Snapshot()[0]
		heavier := backend(8000)
		heavier.Weight = 7
		if _, err := r.Replace([]Backend{heavier}); err != nil {
			t.Fatal(err)
		}
		before.Weight = 7
		if got := r.Snapshot()[0]; got != before || got.ConsecutiveSuccesses < 2 {
			t.Errorf("%+v, want %+v", got, before)
		}
	}, outcomes(s, s, s, s))
}
