package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ReleaseBrake switches the brakes of a service off, so that its agents are believed again, and returns the backends
// that were held: none if the brakes were off.
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
		return ids, nil
	})
}

// showBrakes publishes which brakes are on.
func (w *writer) showBrakes() {
	var list []BrakeState
	for _, s := range w.services {
		if s.brakes == nil {
			continue
		}
		for c := range s.brakes {
			if b := &s.brakes[c]; b.on() {
				list = append(list, b.state(w.options.Brake(s.name)))
			}
		}
	}
	slices.SortFunc(list, func(a, b BrakeState) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), cmp.Compare(a.Concern, b.Concern))
	})
	w.view.brakes.Store(&list)
}

// Brakes returns the brakes that are on, ordered by service.
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
