package validation

import (
	"context"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// entry is one target in the schedule. While running is true its tracker belongs to the goroutine that checks;
// everything else, and all of it at other times, to Run. A node may have several hundred thousand, so it holds no
// prober: making one costs a hundredth of a check and keeping one would cost more than all the rest.
type entry struct {
	target  registry.CheckTarget // the check under way may be made by the one before
	tracker check.Tracker
	former  *check.Spec // what tracker counts by, where target became another during the check under way

	due   time.Time // when the next check should start, or the running one should have
	pool  *pool     // in whose queue it waits, or whose bound its check counts against
	index int       // in the pool's queue; -1 when it is not there

	running bool
	// gone is set by Run when the target is dropped; the goroutine that checks it then reports nothing.
	gone atomic.Bool
	// initial is true until the first attempt for a target that was there at the start.
	initial bool
	// spread is true while the next check is to move away from those of entries that came at the same time.
	spread bool

	// waiting are the calls of CheckNow that want the next verdict. again is true if one of them, or another spec, came
	// during a check: another check must follow it.
	waiting []*batch
	again   bool
}

// newEntry returns the entry of a target that is not scheduled yet.
func newEntry(t registry.CheckTarget) *entry {
	e := &entry{target: t, tracker: *t.Spec.Tracker(), index: -1, spread: true}
	if t.WasUnhealthy {
		e.tracker.Wary()
	}
	return e
}

// replaceTracker replaces the tracker, which counted by the thresholds of a former check, by one for the target's
// present check that keeps its counts.
func (e *entry) replaceTracker(former check.Spec) {
	e.tracker = *e.target.Spec.TrackerAfter(former, e.tracker)
	e.former = nil
}

// finding is the result of a check that has ended.
type finding struct {
	entry   *entry
	verdict registry.CheckResult // without an ID if the check was stopped
}

// check makes one attempt at t, which is its target at the time, and draws the conclusion. ok is false if the attempt
// was stopped.
func (e *entry) check(ctx context.Context, t registry.CheckTarget, v *Validator) (verdict registry.CheckResult,
	ok bool) {
	r := attempt(ctx, t, v.newProber)
	if ctx.Err() != nil {
		return registry.CheckResult{}, false
	}
	r = e.tracker.Weigh(r)
	v.metrics.count(r)
	e.tracker.Observe(r.Outcome)
	return registry.CheckResult{
		ID: t.ID, State: e.tracker.State(), Outcome: r.Outcome, Err: r.Err, Latency: r.Latency, At: r.At,
	}, true
}

// attempt makes a check once. A check that this version cannot make, such as one of a newer agent, has the outcome
// Unknown and the reason as its error: it says nothing about the backend.
func attempt(ctx context.Context, t registry.CheckTarget, newProber proberMaker) check.Result {
	p, err := newProber(t)
	if err != nil {
		return check.Result{Outcome: check.Unknown, Err: "this node cannot make the check: " + err.Error(), At: time.Now()}
	}
	return p.Probe(ctx)
}

const (
	// followInterval bounds the delay in noticing a change of the targets, at the price of one atomic load.
	followInterval = 200 * time.Millisecond
	// followShare bounds the cost of following targets that change all the time, as when many agents appear at once.
	// Comparing hundreds of thousands takes a while; the next comparison begins at least twenty times as long after it.
	followShare = 20
)

// follower keeps the targets of a schedule equal to the registry's, and its settings to those in force.
type follower struct {
	targets    Targets
	settings   *atomic.Pointer[Settings]
	generation uint64
	earliest   time.Time // when it may look again
}

// follow brings the schedule up to date if targets or settings have changed. Nothing is a target while checks are
// switched off.
func (f *follower) follow(s *schedule) {
	start, settings := time.Now(), *f.settings.Load()
	// The generation first: a change between the two calls is then noticed later.
	generation := f.targets.CheckTargetsGeneration()
	if s.initial >= 0 && settings == s.settings && (generation == f.generation || start.Before(f.earliest)) {
		return
	}
	f.generation = generation
	s.set(settings)
	var targets []registry.CheckTarget
	if settings.Enabled {
		targets = f.targets.CheckTargets()
	}
	s.follow(targets, start)
	f.earliest = start.Add(followShare * time.Since(start))
}
