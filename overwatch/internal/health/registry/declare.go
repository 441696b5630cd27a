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

// declarationsPerCommand is about how many declarations one command applies: few enough that a change of health does
// not wait behind a large configuration. The declarations of one service are never divided.
const declarationsPerCommand = 2048

// SetStaticDeclarations makes the given declarations, which must each name another backend, all that configuration
// declares: backends that only configuration declared before are removed, the healthy ones of a service not before
// those that come to it have been judged (see settle). Readers see the change service by service. A declaration that
// cannot be is an error that names it, and then nothing has changed; if ctx ends, the rest is left as it was. The IDs
// in the slice are brought into their one form.
func (r *Registry) SetStaticDeclarations(ctx context.Context, declarations []Declaration) (err error) {
	order, err := groupByService(declarations)
	if err != nil {
		return err
	}
	r.staticLock.Lock()
	defer r.staticLock.Unlock()
	r.round++
	round := r.round
	declare := func(part []int32) error {
		return runChange(ctx, r, func(w *writer, now time.Time) error {
			return w.declareStatic(declarations, part, round,
				now)
		})
	}
	if round == 1 { // at the start nobody waits, and nothing was declared before
		return declare(order)
	}
	defer func() { // also where ctx ended
		if whole := r.setDeclaring(context.WithoutCancel(ctx), false); err == nil {
			err = whole
		}
	}()
	if err := r.setDeclaring(ctx, true); err != nil {
		return err
	}
	for len(order) > 0 {
		n := nextPart(declarations, order)
		if err := declare(order[:n]); err != nil {
			return err
		}
		order = order[n:]
	}
	return r.endUndeclared(ctx, round)
}

// setDeclaring tells the writer whether a SetStatic is under way. Then some declarations are old and some new, so no
// suspension begins or ends.
func (r *Registry) setDeclaring(ctx context.Context, is bool) error {
	return runChange(ctx, r, func(w *writer, _ time.Time) error { w.isDeclaring = is; return nil })
}

// AddStaticDeclarations declares backends ahead of a later SetStatic, so that new names have their backends from the
// beginning. It skips those that configuration declares already. Changes and removals are left to that SetStatic, which
// also drops what it does not repeat. It must not come before the first SetStatic. An invalid declaration is an error
// that names it, and then nothing has changed.
func (r *Registry) AddStaticDeclarations(ctx context.Context, declarations []Declaration) error {
	order, err := groupByService(declarations)
	if err != nil {
		return err
	}
	r.staticLock.Lock()
	defer r.staticLock.Unlock()
	round := r.round
	for len(order) > 0 {
		n := nextPart(declarations, order)
		part := order[:n]
		if err := runChange(ctx, r, func(w *writer, now time.Time) error {
			return w.declareStatic(declarations, w.undeclared(declarations, part), round, now)
		}); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// undeclared returns the keys of part that configuration does not declare.
func (w *writer) undeclared(declarations []Declaration, part []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(part), func(i int32) bool {
		rec := w.lookupRecord(declarations[i].ID)
		return rec != nil && rec.static != nil
	})
}

// groupByService brings declarations into their one form and finds the order in which those of a service are together,
// by their endpoints. There may be 400 000, so none is copied.
func groupByService(declarations []Declaration) (order []int32, err error) {
	numbers := make(map[string]int)               // of the services, as they come up
	begins := make([]int, 1, len(declarations)+1) // where each begins; until they are summed, how many the one before has
	of := make([]int32, len(declarations))
	var firsts []int32 // by service: its first declaration
	number := -1
	for i := range declarations {
		d := &declarations[i]
		if err := d.normalize(); err != nil {
			return nil, err
		}
		// The services of a region mostly come in the order of those of the region before.
		if number++; number >= len(firsts) || declarations[firsts[number]].ID.Service != d.ID.Service {
			var known bool
			if number, known = numbers[d.ID.Service]; !known {
				number = len(firsts)
				numbers[d.ID.Service] = number
				firsts = append(firsts, int32(i))
				begins = append(begins, 0)
			}
		}
		begins[number+1]++
		of[i] = int32(number)
	}
	for i := 1; i < len(begins); i++ {
		begins[i] += begins[i-1]
	}
	order = make([]int32, len(declarations))
	next := slices.Clone(begins)
	for i, number := range of {
		order[next[number]] = int32(i)
		next[number]++
	}
	for i := range len(begins) - 1 {
		own := order[begins[i]:begins[i+1]]
		slices.SortFunc(own, func(a, b int32) int { return declarations[a].ID.compareEndpoint(declarations[b].ID) })
		for k := 1; k < len(own); k++ {
			if id := declarations[own[k]].ID; id == declarations[own[k-1]].ID {
				return nil, fmt.Errorf("backend %s is declared twice", id)
			}
		}
	}
	return order, nil
}

// nextPart returns how many of the declarations in the order the next command takes.
func nextPart(declarations []Declaration, order []int32) int {
	n := min(declarationsPerCommand, len(order))
	for n < len(order) && declarations[order[n]].ID.Service == declarations[order[n-1]].ID.Service {
		n++
	}
	return n
}

// endUndeclared ends the static declarations of services of which the given round declared nothing.
func (r *Registry) endUndeclared(ctx context.Context, round uint64) error {
	names, err := runCommand(ctx, r, func(w *writer, _ time.Time) ([]string, error) {
		return slices.Collect(maps.Keys(w.services)), nil
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(names, declarationsPerCommand) {
		if err := runChange(ctx, r, func(w *writer, now time.Time) error {
			return w.endDeclarationsOf(part, round,
				now)
		}); err != nil {
			return err
		}
	}
	return nil
}

// normalize brings the id into its one form and checks d.
func (d *Declaration) normalize() error {
	id, err := NewID(d.ID.Service, d.ID.Address, d.ID.Port)
	if err != nil {
		return err
	}
	d.ID = id
	if d.Weight < 0 || d.Weight > api.MaxWeight {
		return fmt.Errorf("backend %s: weight %d: want 0 to %d", id, d.Weight, api.MaxWeight)
	}
	if d.Check == (unique.Handle[check.Spec]{}) {
		d.Check = unique.Make(check.Spec{})
	}
	return nil
}

// declareStatic applies the declarations that part lists, and ends those of their services that the round does not
// repeat. SetStatic has checked them.
func (w *writer) declareStatic(declarations []Declaration, part []int32, round uint64, now time.Time) error {
	var s *service
	for _, i := range part {
		d := &declarations[i]
		if s == nil || s.name != d.ID.Service {
			w.endDeclarationsBefore(s, round, now)
			s = w.getOrCreateService(d.ID.Service)
		}
		rec := w.getOrCreateIn(s, d.ID, now)
		next := declared{weight: d.Weight, region: d.Region, check: d.Check, agent: d.Agent,
			host: d.Host.handle(), round: round}
		if rec.static == nil {
			rec.static = new(declared)
		}
		*rec.static = next
		w.refreshBackend(rec, now)
	}
	w.endDeclarationsBefore(s, round, now)
	return nil
}

// endDeclarationsOf ends the older static declarations of the services for which the given round declared nothing.
func (w *writer) endDeclarationsOf(services []string, round uint64, now time.Time) error {
	for _, name := range services {
		if s := w.services[name]; s != nil && s.round != round {
			w.endDeclarationsBefore(s, round, now)
		}
	}
	return nil
}

// ChangeDeclarations adds or replaces the API's declarations of puts and removes those of gone, in one turn of the
// writer: a service changes once. A backend of gone without such a declaration is left as it is.
func (r *Registry) ChangeDeclarations(ctx context.Context, puts []Declaration, gone []ID) error {
	puts = slices.Clone(puts)
	for i := range puts {
		if err := puts[i].normalize(); err != nil {
			return err
		}
	}
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		for _, d := range puts {
			rec := w.getOrCreateRecord(d.ID, now)
			rec.api = &declared{weight: d.Weight, region: d.Region, check: d.Check, agent: d.Agent}
			w.refreshBackend(rec, now)
		}
		for _, id := range gone {
			if rec := w.lookupRecord(id); rec != nil && rec.api != nil {
				rec.api = nil
				w.removeOrRefresh(rec, now)
			}
		}
		return nil
	})
}
