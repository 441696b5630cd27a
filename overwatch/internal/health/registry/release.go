package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/health/status"
)

// ReleaseServiceHold ends the holds of a service's backends, so that the node accepts the reports of its agents. It
// returns the released backends, nil if there was no hold.
func (r *Registry) ReleaseServiceHold(ctx context.Context, name string) ([]ID, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		s := w.services[name]
		if s == nil {
			return nil, fmt.Errorf("releasing the hold of %s: %w", name, ErrUnknownBackend)
		}
		var ids []ID
		for kind := range status.ReportKinds {
			if s.holds != nil {
				ids = append(ids, w.releaseHold(&s.holds[kind], now)...)
			}
		}
		for _, rec := range slices.Clone(s.records) { // backends in the hold of an agent or a region
			if w.holdOf(rec, status.ReportUnhealthy, now) != nil {
				report := rec.unconfirmedReport(status.ReportUnhealthy)
				report.Accepted, report.Final = true, true
				w.refreshBackend(rec, now)
				ids = append(ids, rec.id)
			}
		}
		return ids, nil
	})
}

// ReleaseAgentHold ends the hold of an agent's reports, and returns the released backends.
func (r *Registry) ReleaseAgentHold(ctx context.Context, id string) ([]ID, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		if a := w.agents[id]; a != nil {
			return w.releaseHold(a.hold, now), nil
		}
		return nil, fmt.Errorf("releasing the hold of agent %s: %w", id, ErrUnknownBackend)
	})
}

// ReleaseRegionHold ends the hold of the reports about a region, and returns the released backends.
func (r *Registry) ReleaseRegionHold(ctx context.Context, name string) ([]ID, error) {
	return runCommand(ctx, r, func(w *writer, now time.Time) ([]ID, error) {
		if g := w.regions[name]; g != nil {
			return w.releaseHold(&g.hold, now), nil
		}
		return nil, fmt.Errorf("releasing the hold of region %s: %w", name, ErrUnknownBackend)
	})
}

// releaseHold ends a hold, which may be nil or inactive, and returns the released backends.
func (w *writer) releaseHold(h *hold, now time.Time) []ID {
	if h == nil || !h.IsActive() {
		return nil
	}
	held := w.recordsHeldBy(h, now)
	w.endHold(h, held, "", now)
	return idsOf(held)
}

// publishHolds publishes the active holds.
func (w *writer) publishHolds() {
	var list []HoldState
	add := func(h *hold, service string) {
		if h != nil && h.IsActive() {
			list = append(list, h.state(w.options.Protection(service)))
		}
	}
	for _, s := range w.services {
		for kind := range status.ReportKinds {
			if s.holds != nil {
				add(&s.holds[kind], s.name)
			}
		}
	}
	for _, a := range w.agents {
		add(a.hold, "")
	}
	for _, g := range w.regions {
		add(&g.hold, "")
	}
	slices.SortFunc(list, func(a, b HoldState) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Region, b.Region),
			strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Kind, b.Kind))
	})
	w.view.holds.Store(&list)
}

// Holds returns the active holds, ordered by service, region and agent.
func (v *View) Holds() []HoldState {
	if list := v.holds.Load(); list != nil {
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
