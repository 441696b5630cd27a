package check

import "testing"

// The table above Tracker, with F = 3 and S = 2: each row brings a tracker into
// its first column with outcomes and observes one more.
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
		{"unknown: the first failure decides", nil, f, StateUnhealthy, true},
		{"unknown: inconclusive ones before do not matter", []Outcome{u, u}, f, StateUnhealthy, true},
		{"healthy stays on success", []Outcome{s}, s, StateHealthy, false},
		{"healthy stays on unknown", []Outcome{s}, u, StateHealthy, false},
		{"healthy stays on the first failure", []Outcome{s}, f, StateHealthy, false},
		{"healthy stays below F", []Outcome{s, f}, f, StateHealthy, false},
		{"healthy ends at F", []Outcome{s, f, f}, f, StateUnhealthy, true},
		{"healthy: unknown does not break the row", []Outcome{s, f, u, f, u}, f, StateUnhealthy, true},
		{"healthy: unknown does not lengthen the row", []Outcome{s, f, f}, u, StateHealthy, false},
		{"healthy: a success breaks the row", []Outcome{s, f, f, s, f}, f, StateHealthy, false},
		{"unhealthy stays on failure", []Outcome{f}, f, StateUnhealthy, false},
		{"unhealthy stays on unknown", []Outcome{f}, u, StateUnhealthy, false},
		{"unhealthy stays below S", []Outcome{f}, s, StateUnhealthy, false},
		{"unhealthy ends at S", []Outcome{f, s}, s, StateHealthy, true},
		{"unhealthy: unknown does not break the row", []Outcome{f, s, u}, s, StateHealthy, true},
		{"unhealthy: a failure breaks the row", []Outcome{f, s, f}, s, StateUnhealthy, false},
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
