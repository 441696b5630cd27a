package check // inside: it looks at name

import "testing"

// The table in the comment of Tracker, with F = 3 and S = 2: each row brings a tracker into the state of the first
// column with outcomes and observes another outcome.
func TestTracker_Table(t *testing.T) {
	const s, f, u = Success, Failure, Unknown
	for _, c := range []struct {
		name    string
		history []Outcome
		outcome Outcome
		want    State
		changed bool
	}{
		{"unknown stays unknown without a conclusive result", []Outcome{u, u}, u, StateUnknown, false},
		{"unknown: the first success decides", nil, s, StateHealthy, true},
		{"unknown stays on the first failure", nil, f, StateUnknown, false},
		{"unknown stays below F", []Outcome{f}, f, StateUnknown, false},
		{"unknown ends at F", []Outcome{f, f}, f, StateUnhealthy, true},
		{"unknown: inconclusive ones do not break the row", []Outcome{u, f, u, f, u}, f, StateUnhealthy, true},
		{"unknown: the first success decides after failures too", []Outcome{f, f}, s, StateHealthy, true},
		{"healthy stays on success", []Outcome{s}, s, StateHealthy, false},
		{"healthy stays on unknown", []Outcome{s}, u, StateHealthy, false},
		{"healthy stays on the first failure", []Outcome{s}, f, StateHealthy, false},
		{"healthy stays below F", []Outcome{s, f}, f, StateHealthy, false},
		{"healthy ends at F", []Outcome{s, f, f}, f, StateUnhealthy, true},
		{"healthy: unknown does not break the row", []Outcome{s, f, u, f, u}, f, StateUnhealthy, true},
		{"healthy: unknown does not lengthen the row", []Outcome{s, f, f}, u, StateHealthy, false},
		{"healthy: a success breaks the row", []Outcome{s, f, f, s, f}, f, StateHealthy, false},
		{"unhealthy stays on failure", []Outcome{f, f, f}, f, StateUnhealthy, false},
		{"unhealthy stays on unknown", []Outcome{f, f, f}, u, StateUnhealthy, false},
		{"unhealthy stays below S", []Outcome{f, f, f}, s, StateUnhealthy, false},
		{"unhealthy ends at S", []Outcome{f, f, f, s}, s, StateHealthy, true},
		{"unhealthy: unknown does not break the row", []Outcome{f, f, f, s, u}, s, StateHealthy, true},
		{"unhealthy: a failure breaks the row", []Outcome{f, f, f, s, f}, s, StateUnhealthy, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tracker := NewTracker(3, 2)
			for _, o := range c.history {
				tracker.Observe(o)
			}
			if got := tracker.Observe(c.outcome); got != c.changed || tracker.State() != c.want {
				t.Errorf("changed %v, state %s; want %v, %s", got, tracker.State(), c.changed, c.want)
			}
		})
	}
}

func TestTracker_WaryWantsSuccessThresholdToBegin(t *testing.T) {
	tracker := NewTracker(3, 2)
	tracker.Wary()
	for i, c := range []struct {
		outcome Outcome
		want    State
	}{{Success, StateUnknown}, {Failure, StateUnknown}, {Success, StateUnknown}, {Unknown, StateUnknown},
		{Success, StateHealthy}} {
		if tracker.Observe(c.outcome); tracker.State() != c.want {
			t.Errorf("after %d outcomes: %s, want %s", i+1, tracker.State(), c.want)
		}
	}
}

// The check of a backend changes: F = 3 and S = 2 before, F = 2 and S = 3 afterwards.
func TestTrackerAfter_StateStaysUntilTheThresholdsDecide(t *testing.T) {
	before := valid()
	before.FailureThreshold, before.SuccessThreshold = 3, 2
	thresholds := before
	thresholds.FailureThreshold, thresholds.SuccessThreshold, thresholds.Interval = 2, 3, before.Interval*2
	thresholds.Detail = Detail{Counting: Consecutive}.Details()
	path := thresholds
	path.Path = "/other"
	const s, f, u = Success, Failure, Unknown
	for _, c := range []struct {
		name          string
		before, after []Outcome
		next          Spec
		want          State
	}{
		{"another path: the row begins anew", []Outcome{s, f}, []Outcome{f}, path, StateHealthy},
		{"another path: F of the new check", []Outcome{s, f, f}, []Outcome{f, f}, path, StateUnhealthy},
		{"another path: unhealthy until S of the new check", []Outcome{f, f, f, s}, []Outcome{s, s}, path, StateUnhealthy},
		{"another path: S of the new check", []Outcome{f, f, f, s}, []Outcome{s, s, s}, path, StateHealthy},
		{"other thresholds: the row goes on", []Outcome{s, f}, []Outcome{f}, thresholds, StateUnhealthy},
		{"other thresholds alone decide nothing", []Outcome{s, f, f}, []Outcome{u}, thresholds, StateHealthy},
		{"other thresholds: successes go on too", []Outcome{f, f, f, s}, []Outcome{s, s}, thresholds, StateHealthy},
		{"nothing known stays nothing known", []Outcome{f, f}, []Outcome{f}, path, StateUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			known := before.Tracker()
			for _, o := range c.before {
				known.Observe(o)
			}
			next := c.next.TrackerAfter(before, *known)
			for _, o := range c.after {
				next.Observe(o)
			}
			if next.State() != c.want {
				t.Errorf("%s, want %s", next.State(), c.want)
			}
		})
	}
}

func TestTracker_HeldUpResultsSayNothingButNotForEver(t *testing.T) {
	held := Result{HeldUp: true, Err: "held up"}
	tracker := NewTracker(2, 1)
	observe := func(r Result) Outcome {
		r = tracker.Weigh(r)
		tracker.Observe(r.Outcome)
		return r.Outcome
	}
	observe(Result{Outcome: Success})
	for range 10 { // a machine that is slow now and then
		for i := range MaxHeldUp {
			if got := observe(held); got != Unknown {
				t.Fatalf("result %d in a row is a %s", i+1, got)
			}
			observe(Result{}) // Unknown: the count of consecutive results stays the same
		}
		observe(Result{Outcome: Success})
	}
	for range MaxHeldUp {
		observe(held)
	}
	for i := range 2 {
		if tracker.State() != StateHealthy {
			t.Errorf("%s after %d failures of 2", tracker.State(), i)
		}
		if got := observe(held); got != Failure {
			t.Errorf("after %d in a row another one is a %s", MaxHeldUp+i, got)
		}
	}
	if tracker.State() != StateUnhealthy {
		t.Errorf("%s on a machine that is always slow", tracker.State())
	}
}

func TestTracker_CountsResultsInARow(t *testing.T) {
	tracker := NewTracker(3, 2)
	for _, o := range []Outcome{Success, Failure, Failure, Unknown} {
		tracker.Observe(o)
	}
	if tracker.Failures() != 2 || tracker.Successes() != 0 {
		t.Errorf("failures %d, successes %d; want 2, 0", tracker.Failures(), tracker.Successes())
	}
	tracker.Observe(Success)
	if tracker.Failures() != 0 || tracker.Successes() != 1 {
		t.Errorf("failures %d, successes %d; want 0, 1", tracker.Failures(), tracker.Successes())
	}
}

func TestNewTracker_ThresholdBelowOneCountsAsOne(t *testing.T) {
	tracker := NewTracker(0, -4)
	tracker.Observe(Success)
	if !tracker.Observe(Failure) || !tracker.Observe(Success) {
		t.Error("with thresholds of one every conclusive result must decide")
	}
}
