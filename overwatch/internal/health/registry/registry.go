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
	// bulk lets one SetStatic run at a time: it takes many commands. round is the number of the newest.
	bulk  sync.Mutex
	round uint64
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
	w.restore(w.start)
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
	defer w.finish(saver)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-r.commands:
			now := w.awake()
			c.apply(w, now)
			w.publish(now)
			close(c.done)
		case <-alarm.C:
			now := w.awake()
			w.expire(now)
			w.publish(now)
		case result := <-saver.results:
			w.saved(result, w.awake())
		}
		now := w.awake()
		w.save(saver, now)
		alarm.Reset(w.rest(now))
	}
}

// ask has the writer's goroutine make a change and waits until it is published. What change returns is returned.
func ask[T any](ctx context.Context, r *Registry, change func(w *writer, now time.Time) (T, error)) (T, error) {
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

// tell is ask for a change that returns only an error.
func tell(ctx context.Context, r *Registry, change func(w *writer, now time.Time) error) error {
	_, err := ask(ctx, r, func(w *writer, now time.Time) (struct{}, error) { return struct{}{}, change(w, now) })
	return err
}

// Retime puts other timing in force, as a reload of the configuration may bring it, and asks for the brakes' settings
// again.
func (r *Registry) Retime(ctx context.Context, t Timing) error {
	if err := t.check(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		for _, s := range w.services {
			if s.brakes != nil {
				w.mark(s, false) // its settings may be others now
			}
		}
		for _, a := range w.agents {
			if a.brake != nil {
				a.rejudge(w)
			}
		}
		for _, g := range w.regions {
			w.rejudgeIfAccused(g)
		}
		if t == w.timing {
			return nil
		}
		if t.ValidationEnabled && !w.timing.ValidationEnabled {
			w.believeUnwatched()
		}
		w.timing = t
		for _, a := range w.agents {
			w.judgeAgent(a, now)
		}
		for rec := range w.records() {
			w.refresh(rec, now)
		}
		return nil
	})
}

// believeUnwatched keeps backends that nothing watches in the answers when checks are switched on, until their first
// check fails. Those that are switched on with a restart are kept by what snapshot saves of such backends.
func (w *writer) believeUnwatched() {
	for rec := range w.records() {
		if rec.claim == nil {
			rec.remembered, rec.outdated = check.StateHealthy, true
		}
	}
}

// Sync returns when everything that was asked before is done, or with the error of ctx. It needs Run.
func (r *Registry) Sync(ctx context.Context) error {
	return tell(ctx, r, func(*writer, time.Time) error { return nil })
}
