package validation

import (
	"context"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/shared/check"
)

// entry is one target in the schedule. While running is true its prober, tracker and verdict belong to the goroutine that
// checks; everything else, and all of it at other times, to Run.
type entry struct {
	target  registry.Target
	prober  prober
	tracker *check.Tracker
	verdict registry.Verdict // of the last check

	due   time.Time // when the next check should start, or the running one should have
	index int       // in the queue; -1 when it is not there

	running bool
	// gone is set by Run when the target is dropped; the goroutine that checks it then reports nothing.
	gone atomic.Bool
	// initial is true until the first attempt for a target that was there at the start.
	initial bool
	// spread is true while the next check is to move away from those of entries that came at the same time.
	spread bool

	// waiting are the calls of CheckNow that want the next verdict; again is true if they came during a check, which is then
	// not the one they asked for.
	waiting []*batch
	again   bool
}

// check makes one attempt and reports what it leads to, unless it was stopped or the target is gone.
func (e *entry) check(ctx context.Context, report func(context.Context, registry.Verdict) error, count func(check.Outcome)) error {
	r := e.prober.Probe(ctx)
	if ctx.Err() != nil {
		return nil
	}
	e.tracker.Observe(r.Outcome)
	count(r.Outcome)
	e.verdict = registry.Verdict{
		ID: e.target.ID, State: e.tracker.State(), Outcome: r.Outcome, Err: r.Err, Latency: r.Latency, At: r.At,
	}
	if e.gone.Load() {
		return nil
	}
	return report(ctx, e.verdict)
}

// impossible stands for the prober of a check that this version cannot make, as of an agent that is newer: the reason is
// seen where results are seen.
type impossible struct{ reason string }

// Probe says that nothing is known.
func (p impossible) Probe(context.Context) check.Result {
	return check.Result{Outcome: check.Unknown, Err: p.reason, At: time.Now()}
}
