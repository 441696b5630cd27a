package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	"unique"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// staticAtOnce is about how many declarations one command applies: few enough that a change of health does not wait behind a
// large configuration. The declarations of one service are never divided.
const staticAtOnce = 2048

// SetStatic makes the given declarations, which must each name another backend, all that configuration declares: backends
// that only configuration declared before are removed. Readers see the change service by service. A declaration that cannot
// be is an error that names it, and then nothing has changed; if ctx ends, the rest is left as it was.
func (r *Registry) SetStatic(ctx context.Context, declarations []Declaration) error {
	ordered, err := byService(declarations)
	if err != nil {
		return err
	}
	r.bulk.Lock()
	defer r.bulk.Unlock()
	r.round++
	round := r.round
	for len(ordered) > 0 {
		n := len(ordered) // at the start nobody waits
		if round > 1 {
			n = staticPart(ordered)
		}
		part := ordered[:n]
		if err := tell(ctx, r, func(w *writer, now time.Time) error { return w.declareStatic(part, round, now) }); err != nil {
			return err
		}
		ordered = ordered[n:]
	}
	return r.dropUndeclared(ctx, round)
}

// byService brings declarations into their one form and those of a service together, in the order of their endpoints.
func byService(declarations []Declaration) ([]Declaration, error) {
	numbers := make(map[string]int)               // of the services, as they come up
	begins := make([]int, 1, len(declarations)+1) // where each begins; until they are summed, how many the one before has
	of := make([]int, len(declarations))
	for i := range declarations {
		d := declarations[i]
		if err := d.normalise(); err != nil {
			return nil, err
		}
		number, known := numbers[d.ID.Service]
		if !known {
			number = len(numbers)
			numbers[d.ID.Service] = number
			begins = append(begins, 0)
		}
		begins[number+1]++
		of[i] = number
	}
	for i := 1; i < len(begins); i++ {
		begins[i] += begins[i-1]
	}
	ordered := make([]Declaration, len(declarations))
	next := slices.Clone(begins)
	for i, number := range of {
		at := &ordered[next[number]]
		*at = declarations[i]
		_ = at.normalise() // as before
		next[number]++
	}
	for i := range len(begins) - 1 {
		own := ordered[begins[i]:begins[i+1]]
		slices.SortFunc(own, func(a, b Declaration) int { return a.ID.compareEndpoint(b.ID) })
		for k := 1; k < len(own); k++ {
			if own[k].ID == own[k-1].ID {
				return nil, fmt.Errorf("backend %s is declared twice", own[k].ID)
			}
		}
	}
	return ordered, nil
}

// staticPart returns how many of the declarations, which are in order, the next command takes.
func staticPart(ordered []Declaration) int {
	n := min(staticAtOnce, len(ordered))
	for n < len(ordered) && ordered[n].ID.Service == ordered[n-1].ID.Service {
		n++
	}
	return n
}

// dropUndeclared ends the static declarations that the given round did not repeat.
func (r *Registry) dropUndeclared(ctx context.Context, round uint64) error {
	names, err := ask(ctx, r, func(w *writer, _ time.Time) ([]string, error) {
		return slices.Collect(maps.Keys(w.services)), nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(names, staticAtOnce) {
		if err := tell(ctx, r, func(w *writer, now time.Time) error { return w.dropStatic(part, round, now) }); err != nil {
			return err
		}
	}
	return nil
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

// declareStatic takes declarations that SetStatic has checked.
func (w *writer) declareStatic(part []Declaration, round uint64, now time.Time) error {
	var spec check.Spec
	var shared unique.Handle[check.Spec] // of spec: neighbours are often checked alike
	for i := range part {
		d := &part[i]
		if shared == (unique.Handle[check.Spec]{}) || d.Check != spec {
			spec, shared = d.Check, unique.Make(d.Check)
		}
		rec := w.obtain(d.ID, now)
		next := declared{weight: d.Weight, region: d.Region, check: shared, round: round}
		if rec.static == nil {
			rec.static = new(declared)
		}
		*rec.static = next
		w.refresh(rec, now)
	}
	return nil
}

// dropStatic ends what configuration declared of these services before the given round.
func (w *writer) dropStatic(services []string, round uint64, now time.Time) error {
	for _, name := range services {
		s := w.services[name]
		if s == nil {
			continue
		}
		for i := len(s.records) - 1; i >= 0; i-- { // backwards: release may remove the one at i
			if rec := s.records[i]; rec.static != nil && rec.static.round != round {
				rec.static = nil
				w.release(rec, now)
			}
		}
	}
	return nil
}

// Declare adds a backend that the API declares, or replaces what the API declared about it before.
func (r *Registry) Declare(ctx context.Context, d Declaration) error {
	if err := d.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		rec := w.obtain(d.ID, now)
		rec.api = &declared{weight: d.Weight, region: d.Region, check: unique.Make(d.Check)}
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
