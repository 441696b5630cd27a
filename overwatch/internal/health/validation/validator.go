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

// ErrStopped is returned by CheckNow once Run has ended.
var ErrStopped = errors.New("validation has stopped")

// Validator checks backends. Its methods may be called from any goroutine.
type Validator struct {
	options   Options
	metrics   *metrics
	newProber proberMaker
	patterns  *check.Patterns
	finished  chan finding
	requests  chan *batch
	settings  atomic.Pointer[Settings]
	changed   chan struct{} // holds one token while settings has changed and Run has not seen it
	stopped   chan struct{}
	cycled    chan struct{} // closed after the first cycle
}

// New prepares a Validator; nothing is checked before Run.
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
		finished: make(chan finding, DefaultConcurrency),
		requests: make(chan *batch),
		stopped:  make(chan struct{}),
		cycled:   make(chan struct{}),
	}
	v.newProber = v.networkProber
	v.settings.Store(&o.Settings)
	return v, nil
}

// Reconfigure puts other settings in force, from the next check of each backend on. On an error nothing changes.
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

// FirstCycle returns a channel that is closed when every target that was there when Run began has been attempted once
// and its verdict reported, or is gone. Without any it is closed as soon as Run has looked.
func (v *Validator) FirstCycle() <-chan struct{} { return v.cycled }

// CheckNow checks every target that wants asks for, now, and returns their verdicts ordered by id when all have ended.
// The verdicts are reported like any other. wants must not block. Targets dropped meanwhile are left out.
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

// Run checks until ctx ends, and returns when every check has ended. It must be called once.
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
	f.follow(s)
	for {
		for {
			e := s.next(time.Now())
			if e == nil {
				break
			}
			target := e.target
			checks.Go(func() { v.check(ctx, e, target) })
		}
		v.show(s, due)
		select {
		case <-ctx.Done():
			return nil
		case found := <-v.finished:
			s.finish(found, time.Now())
		case b := <-v.requests:
			f.earliest = time.Time{} // what was declared or set before the call counts
			f.follow(s)
			s.expedite(b, time.Now())
		case <-v.changed:
			f.follow(s)
		case <-due.C:
		case <-poll.C:
			f.follow(s)
		}
	}
}

// check runs in its own goroutine.
func (v *Validator) check(ctx context.Context, e *entry, t registry.CheckTarget) {
	verdict, ok := e.check(ctx, t, v)
	if ok && !e.gone.Load() {
		if err := v.options.Report(ctx, verdict); err != nil && ctx.Err() == nil {
			v.options.Logger.Error().Err(err).Stringer("backend", t.ID).Msg("a verdict could not be reported")
		}
	}
	select {
	case v.finished <- finding{e, verdict}:
	case <-v.stopped:
	}
}

// show publishes the state of the schedule, and sets the timer for the next check that may start. If none may, because
// the bound of checks under way is reached, the end of a check wakes Run.
func (v *Validator) show(s *schedule, due *time.Timer) {
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
