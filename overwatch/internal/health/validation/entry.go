package validation

import (
	"context"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// entry is a target in the schedule. While running is true, the checking goroutine owns its tracker; Run owns all other
// fields. A node may have several hundred thousand entries, so an entry has no prober: creating a prober costs a
// hundredth of a check.
type entry struct {
	target  registry.CheckTarget // a running check may use the previous target
	tracker check.Tracker
	former  *check.Spec // the spec of tracker, if target changed during the running check

	due   time.Time // planned start of the next or running check
	ended time.Time // end of the last check; zero before it
	pool  *pool     // pool of the queued or running check
	index int       // index in the pool's queue, or -1

	running bool
	// Run sets isDropped when it drops the target. The goroutine that checks the target then reports no result.
	isDropped atomic.Bool
	// initial is true until the first attempt, for targets that existed at the start.
	initial bool
	// spread is true while the next check must be moved apart from the checks of entries that were added at the same time.
	spread bool

	// waiting contains the calls of CheckNow that wait for the next result. again is true if such a call, or another spec,
	// arrived during a check. Another check then follows.
	waiting []*batch
	again   bool
}

// newEntry returns the entry of a target that is not scheduled.
func newEntry(t registry.CheckTarget) *entry {
	e := &entry{target: t, tracker: *t.Spec.Tracker(), index: -1, spread: true}
	if t.WasUnhealthy {
		e.tracker.Wary()
	}
	return e
}

// replaceTracker replaces the tracker by a tracker with the thresholds of the current check and the same counts.
func (e *entry) replaceTracker(former check.Spec) {
	e.tracker = *e.target.Spec.TrackerAfter(former, e.tracker)
	e.former = nil
}

// checkOutcome is the result of an ended check.
type checkOutcome struct {
	entry   *entry
	verdict registry.CheckResult // without an ID after a stopped check
}

// runCheck performs a check of t and applies the thresholds. ok is false for a cancelled check.
func (e *entry) runCheck(ctx context.Context, t registry.CheckTarget, v *Validator) (verdict registry.CheckResult,
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

// attempt performs a single check. For a check that this version does not support, for example of a newer agent, it
// returns the outcome Unknown and the reason as the error. Such a result does not change the state of the backend.
func attempt(ctx context.Context, t registry.CheckTarget, newProber proberMaker) check.Result {
	p, err := newProber(t)
	if err != nil {
		return check.Result{Outcome: check.Unknown, Err: "this node cannot make the check: " + err.Error(), At: time.Now()}
	}
	return p.Probe(ctx)
}

const (
	// followInterval is the maximum delay before a change of the targets is noticed. Each poll costs an atomic load.
	followInterval = 200 * time.Millisecond
	// followShare limits the cost of following targets that change continuously, for example while many agents connect.
	// Comparing hundreds of thousands of targets is slow, so the pause after a comparison is at least twenty times as
	// long.
	followShare = 20
)

// follower updates a schedule to the targets of the registry and the current settings.
type follower struct {
	targets    Targets
	settings   *atomic.Pointer[Settings]
	generation uint64
	earliest   time.Time // time of the next update
}

// updateSchedule updates the schedule if targets or settings have changed. While checks are disabled, there are no
// targets.
func (f *follower) updateSchedule(s *schedule) {
	start, settings := time.Now(), *f.settings.Load()
	// The generation is read first, so that a change between the two calls causes another update.
	generation := f.targets.CheckTargetsGeneration()
	if s.initial >= 0 && settings == s.settings && (generation == f.generation || start.Before(f.earliest)) {
		return
	}
	f.generation = generation
	s.setSettings(settings)
	var targets []registry.CheckTarget
	if settings.Enabled {
		targets = f.targets.CheckTargets()
	}
	s.replaceTargets(targets, start)
	f.earliest = start.Add(followShare * time.Since(start))
}
