package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ReleaseBrake ends the holds of a service's backends, so that reports of its agents count, and returns the
// released backends: nil if there was no hold.
func (r *Registry) ReleaseBrake(ctx context.Context, name string) ([]ID, error) {
	return ask(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		s := w.services[name]
		if s == nil {
			return nil, fmt.Errorf("releasing the brake of %s: %w", name, ErrUnknownBackend)
		}
		var ids []ID
		for c := range concerns {
			if s.brakes == nil || !s.brakes[c].on() {
				continue
			}
			held := w.heldBy(&s.brakes[c], now)
			ids = append(ids, idsOf(held)...)
			w.endBrake(&s.brakes[c], held, "", now)
		}
		for _, rec := range slices.Clone(s.records) { // backends in the hold of an agent or a region
			if w.holder(rec, ConcernIll, now) != nil {
				a := rec.accusation(ConcernIll)
				a.believed, a.final = true, true
				w.refresh(rec, now)
				ids = append(ids, rec.id)
			}
		}
		return ids, nil
	})
}

// ReleaseAgent ends the hold of an agent's reports, and returns the released backends.
func (r *Registry) ReleaseAgent(ctx context.Context, id string) ([]ID, error) {
	return ask(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		if a := w.agents[id]; a != nil {
			return w.releaseOne(a.brake, now), nil
		}
		return nil, fmt.Errorf("releasing the hold of agent %s: %w", id, ErrUnknownBackend)
	})
}

// ReleaseRegion ends the hold of the reports about a region, and returns the released backends.
func (r *Registry) ReleaseRegion(ctx context.Context, name string) ([]ID, error) {
	return ask(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		if g := w.regions[name]; g != nil {
			return w.releaseOne(&g.brake, now), nil
		}
		return nil, fmt.Errorf("releasing the hold of region %s: %w", name, ErrUnknownBackend)
	})
}

// releaseOne ends a brake, which may be nil or off, and returns the released backends.
func (w *writer) releaseOne(b *brake, now time.Time) []ID {
	if b == nil || !b.on() {
		return nil
	}
	held := w.heldBy(b, now)
	w.endBrake(b, held, "", now)
	return idsOf(held)
}

// showBrakes publishes which brakes are on.
func (w *writer) showBrakes() {
	var list []BrakeState
	show := func(b *brake, service string) {
		if b != nil && b.on() {
			list = append(list, b.state(w.options.Brake(service)))
		}
	}
	for _, s := range w.services {
		for c := range concerns {
			if s.brakes != nil {
				show(&s.brakes[c], s.name)
			}
		}
	}
	for _, a := range w.agents {
		show(a.brake, "")
	}
	for _, g := range w.regions {
		show(&g.brake, "")
	}
	slices.SortFunc(list, func(a, b BrakeState) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Region, b.Region),
			strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Concern, b.Concern))
	})
	w.view.brakes.Store(&list)
}

// Brakes returns the brakes that are on, ordered by service, region and agent.
func (v *View) Brakes() []BrakeState {
	if list := v.brakes.Load(); list != nil {
		return *list
	}
	return nil
}

func idsOf(records []*record) []ID {
	ids := make([]ID, len(records))
	for i, r := range records {
		ids[i] = r.id
	}
	return ids
}
