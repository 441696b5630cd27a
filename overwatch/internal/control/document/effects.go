package document

import (
	"context"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Effects returns the effects of a plan on answers. It returns an error for an invalid object.
func (pl *Planner) Effects(ctx context.Context, p *Plan) (api.PlanAnswers, error) {
	if len(p.changes) == 0 {
		return impact.NoEffects(), nil
	}
	return pl.o.Impact.Compare(ctx, p.names(pl), func(wanted func(string) bool) (*zone.View, error) {
		return pl.o.Definitions.Preview(p.change(pl), p.backends(pl.o.View), wanted)
	})
}

// names returns the sorted names whose answers a plan can change.
func (p *Plan) names(pl *Planner) []string {
	all := map[string]bool{}
	for _, s := range sections() {
		for _, touched := range []*Objects{p.put, p.gone} {
			if s.everywhere && len(touched.of[s.name]) > 0 {
				cfg := pl.o.Edit.Config()
				for d := range cfg.AllDomains {
					all[d.Name] = true
				}
			}
			for _, object := range touched.of[s.name] {
				if s.affects != nil {
					all[s.affects(object)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// backends returns the backends after the plan of a document.
func (p *Plan) backends(view *registry.View) *impact.Backends {
	puts := map[registry.ID]impact.Server{}
	for _, server := range typed[model.Server](p.put, sectionServers) {
		puts[endpointOf(server)] = impact.Server{Weight: server.Weight, Region: server.Region}
	}
	gone := map[registry.ID]bool{}
	for _, server := range typed[model.Server](p.gone, sectionServers) {
		gone[endpointOf(server)] = true
	}
	for _, t := range typed[model.Server](p.put, sectionTargets) { // its known addresses stay
		for b := range impact.AddressesOf(view, definitions.TargetIDOf(t)) {
			puts[b.ID] = impact.Server{Weight: t.Weight, Region: t.Region}
		}
	}
	for _, t := range typed[model.Server](p.gone, sectionTargets) {
		for b := range impact.AddressesOf(view, definitions.TargetIDOf(t)) {
			gone[b.ID] = true
		}
	}
	return impact.NewBackends(view, api.SourceAPI, puts, func(id registry.ID) bool { return gone[id] })
}
