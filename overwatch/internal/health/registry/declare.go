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

// declarationsPerCommand is the approximate number of declarations that a command applies, so that health changes do
// not wait for a large configuration. A command applies all declarations of a service.
const declarationsPerCommand = 2048

// SetStaticDeclarations replaces the declarations by configuration. The IDs must be distinct; they are converted to
// canonical form. Removed servers that are healthy serve until the new servers of the service have a result (see
// removeReplaced). Readers see the change service by service. An invalid declaration is an error without a change. If
// ctx ends, the remaining services are unchanged.
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
	if round == 1 { // at the start no other command waits
		return declare(order)
	}
	defer func() { // even after the end of ctx
		if endErr := r.setDeclaring(context.WithoutCancel(ctx), false); err == nil {
			err = endErr
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

// setDeclaring sets whether SetStaticDeclarations is running. Self-isolation begins or ends only with complete
// declarations.
func (r *Registry) setDeclaring(ctx context.Context, is bool) error {
	return runChange(ctx, r, func(w *writer, _ time.Time) error { w.isDeclaring = is; return nil })
}

// AddStaticDeclarations adds backends before the next SetStaticDeclarations, so that new names have backends from the
// beginning. It skips backends that configuration declares already. The next SetStaticDeclarations makes changes and
// removals, and removes backends that it does not repeat. The first SetStaticDeclarations must precede it. An invalid
// declaration is an error without a change.
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

// undeclared returns the indexes in part of backends that the configuration does not declare.
func (w *writer) undeclared(declarations []Declaration, part []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(part), func(i int32) bool {
		rec := w.lookupRecord(declarations[i].ID)
		return rec != nil && rec.static != nil
	})
}

// groupByService converts declarations to canonical form, and returns their indexes grouped by service and sorted by
// endpoint. There may be 400,000 declarations, so it copies none.
func groupByService(declarations []Declaration) (order []int32, err error) {
	numbers := make(map[string]int)               // of the services, in order of appearance
	begins := make([]int, 1, len(declarations)+1) // start of each service; initially the sizes
	of := make([]int32, len(declarations))
	var firsts []int32 // first declaration of each service
	number := -1
	for i := range declarations {
		d := &declarations[i]
		if err := d.normalize(); err != nil {
			return nil, err
		}
		// Each region usually declares the services in the same order.
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

// nextPart returns the number of declarations for the next command.
func nextPart(declarations []Declaration, order []int32) int {
	n := min(declarationsPerCommand, len(order))
	for n < len(order) && declarations[order[n]].ID.Service == declarations[order[n-1]].ID.Service {
		n++
	}
	return n
}

// endUndeclared ends the static declarations of services without a declaration in the round.
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

// normalize converts the id to canonical form and validates d.
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

// declareStatic applies the declarations with the indexes in part, and ends older declarations of their services.
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

// endDeclarationsOf ends the static declarations of services without a declaration in the round.
func (w *writer) endDeclarationsOf(services []string, round uint64, now time.Time) error {
	for _, name := range services {
		if s := w.services[name]; s != nil && s.declarationRound != round {
			w.endDeclarationsBefore(s, round, now)
		}
	}
	return nil
}

// ChangeDeclarations adds or replaces declarations by the API, and removes the declarations with the IDs in gone. All
// changes form a single command, so a service changes once. IDs without such a declaration are ignored.
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
