package registry

import (
	"context"
	"errors"
	"sync"
	"time"

	"gslb.internal/shared/check"
)

// ErrStopped is returned by commands once Run has ended.
var ErrStopped = errors.New("the registry has stopped")

// Registry holds the backends. Its commands may be called from any goroutine. They return when Run has applied them and
// the view shows their effect, or with the error of their context; then they may still be applied.
type Registry struct {
	view     *View
	commands chan command
	stopped  chan struct{}
	writer   *writer
	// staticLock lets one SetStatic run at a time: it takes many commands. round is the number of the newest.
	staticLock sync.Mutex
	round      uint64
}

// command is one change, made by the writer's goroutine.
type command struct {
	apply func(w *writer, now time.Time)
	done  chan struct{}
}

// New returns a Registry whose view already has the restored state. Commands wait until Run is called.
func New(o Options) (*Registry, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	w := newWriter(o)
	w.restoreState(w.start)
	return &Registry{view: w.view, commands: make(chan command), stopped: make(chan struct{}), writer: w}, nil
}

// View returns the readers' side of the registry. It is the same for the life of the Registry.
func (r *Registry) View() *View { return r.view }

// Run applies commands and lets time pass until ctx ends; then it saves what has not been saved. It must be called
// once.
func (r *Registry) Run(ctx context.Context) error {
	defer close(r.stopped)
	w := r.writer
	saver := startSaver(w.options.Statuses)
	defer w.saveRemaining(saver)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-r.commands:
			now := w.currentTime()
			c.apply(w, now)
			w.publishChanges(now)
			close(c.done)
		case <-alarm.C:
			now := w.currentTime()
			w.handleDeadlines(now)
			w.publishChanges(now)
		case result := <-saver.results:
			w.handleSaveResult(result, w.currentTime())
		}
		now := w.currentTime()
		w.sendBatch(saver, now)
		alarm.Reset(w.sleepTime(now))
	}
}

// runCommand has the writer's goroutine make a change and waits until it is published. What change returns is returned.
func runCommand[T any](ctx context.Context, r *Registry, change func(w *writer, now time.Time) (T, error)) (T, error) {
	var reply struct {
		value T
		err   error
	}
	c := command{done: make(chan struct{})}
	c.apply = func(w *writer, now time.Time) { reply.value, reply.err = change(w, now) }
	var none T
	select {
	case r.commands <- c:
	case <-r.stopped:
		return none, ErrStopped
	case <-ctx.Done():
		return none, ctx.Err()
	}
	select {
	case <-c.done:
		return reply.value, reply.err
	case <-ctx.Done():
		return none, ctx.Err() // the writer may still be at it, so reply must not be read
	}
}

// runChange is ask for a change that returns only an error.
func runChange(ctx context.Context, r *Registry, change func(w *writer, now time.Time) error) error {
	_, err := runCommand(ctx, r, func(w *writer, now time.Time) (struct{}, error) { return struct{}{}, change(w, now) })
	return err
}

// SetTiming puts other timing in force, as a reload of the configuration may bring it, and asks for the brakes'
// settings again.
func (r *Registry) SetTiming(ctx context.Context, t Timing) error {
	if err := t.check(); err != nil {
		return err
	}
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		for _, s := range w.services {
			if s.holds != nil {
				w.markDirty(s, false) // its settings may be others now
			}
		}
		for _, a := range w.agents {
			if a.hold != nil {
				a.queueHoldUpdate(w)
			}
		}
		for _, g := range w.regions {
			w.queueRegionUpdate(g)
		}
		if t == w.timing {
			return nil
		}
		if t.ValidationEnabled && !w.timing.ValidationEnabled {
			w.keepUnmonitored()
		}
		w.timing = t
		for _, a := range w.agents {
			w.updateAgentState(a, now)
		}
		for rec := range w.records() {
			w.refreshBackend(rec, now)
		}
		return nil
	})
}

// keepUnmonitored keeps backends that nothing watches in the answers when checks are switched on, until their first
// check fails. Those that are switched on with a restart are kept by what snapshot saves of such backends.
func (w *writer) keepUnmonitored() {
	for rec := range w.records() {
		if rec.report == nil {
			rec.lastKnown, rec.isLastKnownOld = check.StateHealthy, true
		}
	}
}

// WaitForCommands returns when everything that was asked before is done, or with the error of ctx. It needs Run.
func (r *Registry) WaitForCommands(ctx context.Context) error {
	return runChange(ctx, r, func(*writer, time.Time) error { return nil })
}
