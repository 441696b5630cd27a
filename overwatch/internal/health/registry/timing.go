package registry

import (
	"context"
	"time"
)

// Retime puts other timing in force, as a reload of the configuration may bring it.
func (r *Registry) Retime(ctx context.Context, t Timing) error {
	if err := t.check(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if t == w.timing {
			return nil
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

// Sync returns when everything that was asked before is done, or with the error of ctx. It needs Run.
func (r *Registry) Sync(ctx context.Context) error {
	return tell(ctx, r, func(*writer, time.Time) error { return nil })
}
