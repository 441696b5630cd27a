package validation

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// ErrStopped is the error of CheckNow after the end of Run.
var ErrStopped = errors.New("validation has stopped")

// Validator checks backends. Its methods are safe for concurrent use.
type Validator struct {
	options   Options
	metrics   *metrics
	newProber proberMaker
	patterns  *check.Patterns
	finished  chan checkOutcome
	requests  chan *batch
	settings  atomic.Pointer[Settings]
	changed   chan struct{} // has an element while Run must apply changed settings
	stopped   chan struct{}
	cycled    chan struct{} // closed after the first cycle
}

// New returns a Validator. Checks begin with Run.
func New(o Options) (*Validator, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	m, err := newMetrics(o.Registerer)
	if err != nil {
		return nil, err
	}
	v := &Validator{
		options: o, metrics: m, changed: make(chan struct{}, 1), patterns: check.NewPatterns(matchers()),
		finished: make(chan checkOutcome, DefaultConcurrency),
		requests: make(chan *batch),
		stopped:  make(chan struct{}),
		cycled:   make(chan struct{}),
	}
	v.newProber = v.networkProber
	v.settings.Store(&o.Settings)
	return v, nil
}

// Reconfigure replaces the settings, for the next check of each backend. After an error, no setting has changed.
func (v *Validator) Reconfigure(next Settings) error {
	if err := next.complete(); err != nil {
		return err
	}
	v.settings.Store(&next)
	select {
	case v.changed <- struct{}{}:
	default:
	}
	return nil
}

// FirstCycle returns a channel that is closed after the first check of all initial targets. Without targets, it is
// closed immediately.
func (v *Validator) FirstCycle() <-chan struct{} { return v.cycled }

// CheckNow checks all targets for which wants returns true, and returns their results ordered by id. The results are
// also reported. wants must not block. Targets that are removed during the call are omitted.
func (v *Validator) CheckNow(ctx context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error) {
	b := &batch{wants: wants, done: make(chan struct{})}
	select {
	case v.requests <- b:
	case <-v.stopped:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-b.done:
		slices.SortFunc(b.verdicts, func(x, y registry.CheckResult) int { return x.ID.Compare(y.ID) })
		return b.verdicts, nil
	case <-v.stopped:
		return nil, ErrStopped
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Run checks until ctx ends, and returns after all checks have ended. It must be called once.
func (v *Validator) Run(ctx context.Context) error {
	var checks sync.WaitGroup
	defer checks.Wait()
	defer close(v.stopped)
	poll := time.NewTicker(followInterval)
	defer poll.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	s := newSchedule(*v.settings.Load())
	f := follower{targets: v.options.Targets, settings: &v.settings}
	f.updateSchedule(s)
	for {
		for {
			e := s.nextEntry(time.Now())
			if e == nil {
				break
			}
			target := e.target
			checks.Go(func() { v.check(ctx, e, target) })
		}
		v.publishState(s, due)
		select {
		case <-ctx.Done():
			return nil
		case found := <-v.finished:
			s.finishCheck(found, time.Now())
		case b := <-v.requests:
			f.earliest = time.Time{} // apply changes that precede the call
			f.updateSchedule(s)
			s.checkNow(b, time.Now())
		case <-v.options.Hints.wake:
			s.hasten(v.options.Hints.takeAll(), time.Now())
		case <-v.changed:
			f.updateSchedule(s)
		case <-due.C:
		case <-poll.C:
			f.updateSchedule(s)
		}
	}
}

// check runs in a separate goroutine.
func (v *Validator) check(ctx context.Context, e *entry, t registry.CheckTarget) {
	verdict, ok := e.runCheck(ctx, t, v)
	if ok && !e.isDropped.Load() {
		if err := v.options.Report(ctx, verdict); err != nil && ctx.Err() == nil {
			v.options.Logger.Error().Err(err).Stringer("backend", t.ID).Msg("reporting the result of an own check failed")
		}
	}
	select {
	case v.finished <- checkOutcome{e, verdict}:
	case <-v.stopped:
	}
}

// publishState publishes the state of the schedule, and sets the timer for the next check. If the limit of running
// checks is reached, the end of a check wakes Run.
func (v *Validator) publishState(s *schedule, due *time.Timer) {
	late, wait, waiting := s.overdue(time.Now())
	v.metrics.inFlight.Set(float64(s.running()))
	v.metrics.lag.Set(late.Seconds())
	if waiting {
		due.Reset(wait)
	}
	if s.initial == 0 {
		select {
		case <-v.cycled:
		default:
			close(v.cycled)
		}
	}
}
