package registry

import (
	"context"
	"errors"
	"sync"
	"time"

	"gslb.internal/shared/check"
)

// ErrStopped is the error of commands after the end of Run.
var ErrStopped = errors.New("the registry has stopped")

// Registry holds the backends. Any goroutine may call its commands. A command returns when Run has applied and
// published the change. If its context ends first, it returns the error of the context, and the change may still be
// applied.
type Registry struct {
	view     *View
	commands chan command
	stopped  chan struct{}
	writer   *writer
	// staticLock serializes SetStaticDeclarations, which sends several commands. round counts its calls.
	staticLock sync.Mutex
	round      uint64
}

// command is a change that the goroutine of Run applies.
type command struct {
	apply func(w *writer, now time.Time)
	done  chan struct{}
}

// New returns a Registry with the restored state in its view. Commands block until Run is called.
func New(o Options) (*Registry, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	w := newWriter(o)
	w.restoreState(w.start)
	return &Registry{view: w.view, commands: make(chan command), stopped: make(chan struct{}), writer: w}, nil
}

// View returns the view of the registry, which is the same for the lifetime of the Registry.
func (r *Registry) View() *View { return r.view }

// Run applies commands and handles deadlines until ctx ends, and then saves the unsaved records. It must be called
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

// runCommand runs change in the goroutine of Run, waits until the change is published, and returns the results of
// change.
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
		return none, ctx.Err() // the writer may still write reply
	}
}

// runChange is runCommand for a change without a result.
func runChange(ctx context.Context, r *Registry, change func(w *writer, now time.Time) error) error {
	_, err := runCommand(ctx, r, func(w *writer, now time.Time) (struct{}, error) { return struct{}{}, change(w, now) })
	return err
}

// SetTiming replaces the timing and reloads the settings of mass-failure protection, for a reload of the configuration.
func (r *Registry) SetTiming(ctx context.Context, t Timing) error {
	if err := t.check(); err != nil {
		return err
	}
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		for _, s := range w.services {
			if s.holds != nil {
				w.markDirty(s, false) // updates the holds with the new settings
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

// keepUnmonitored sets unmonitored backends to last known healthy when own checks are enabled by a reload, so that they
// serve until their first check fails. For a restart, storedStatus does the same.
func (w *writer) keepUnmonitored() {
	for rec := range w.records() {
		if rec.report == nil {
			rec.lastKnown, rec.isLastKnownOld = check.StateHealthy, true
		}
	}
}

// WaitForCommands returns when all earlier commands are applied, or with the error of ctx.
func (r *Registry) WaitForCommands(ctx context.Context) error {
	return runChange(ctx, r, func(*writer, time.Time) error { return nil })
}
