package registry

import (
	"context"
	"fmt"
	"time"

	"gslb.internal/shared/api"
)

// SetStatic makes the given declarations, which must each name another backend, all that configuration declares: backends
// that only configuration declared before are removed. On error nothing has changed.
func (r *Registry) SetStatic(ctx context.Context, declarations []Declaration) error {
	checked := make([]Declaration, len(declarations))
	seen := make(map[ID]struct{}, len(declarations))
	for i, d := range declarations {
		if err := d.normalise(); err != nil {
			return err
		}
		if _, twice := seen[d.ID]; twice {
			return fmt.Errorf("backend %s is declared twice", d.ID)
		}
		seen[d.ID] = struct{}{}
		checked[i] = d
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		w.setStatic(checked, now)
		return nil
	})
}

// normalise brings the id into its one form and checks d.
func (d *Declaration) normalise() error {
	id, err := NewID(d.ID.Service, d.ID.Address, d.ID.Port)
	if err != nil {
		return err
	}
	d.ID = id
	if d.Weight < 0 || d.Weight > api.MaxWeight {
		return fmt.Errorf("backend %s: weight %d: want 0 to %d", id, d.Weight, api.MaxWeight)
	}
	return nil
}

func (w *writer) setStatic(declarations []Declaration, now time.Time) {
	w.round++
	for i := range declarations {
		d := &declarations[i]
		rec := w.obtain(d.ID, now)
		next := declared{weight: d.Weight, region: d.Region, check: d.Check, round: w.round}
		if rec.static != nil {
			*rec.static = next
		} else {
			rec.static = &next
		}
		w.refresh(rec, now)
	}
	w.dropUndeclared(now)
}

// dropUndeclared ends the static declarations that the newest SetStatic did not repeat.
func (w *writer) dropUndeclared(now time.Time) {
	for rec := range w.records() {
		if rec.static != nil && rec.static.round != w.round {
			rec.static = nil
			w.release(rec, now)
		}
	}
}

// Declare adds a backend that the API declares, or replaces what the API declared about it before.
func (r *Registry) Declare(ctx context.Context, d Declaration) error {
	if err := d.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		rec := w.obtain(d.ID, now)
		rec.api = &declared{weight: d.Weight, region: d.Region, check: d.Check}
		w.refresh(rec, now)
		return nil
	})
}

// Withdraw ends what the API declared about a backend. It wraps ErrUnknownBackend if that is nothing.
func (r *Registry) Withdraw(ctx context.Context, id ID) error {
	return tell(ctx, r, func(w *writer, now time.Time) error {
		rec := w.lookup(id)
		if rec == nil || rec.api == nil {
			return fmt.Errorf("withdrawing %s: %w", id, ErrUnknownBackend)
		}
		rec.api = nil
		w.release(rec, now)
		return nil
	})
}
