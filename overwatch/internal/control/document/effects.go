package document

import (
	"context"
	"maps"
	"slices"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
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
	if len(p.put.regions)+len(p.gone.regions)+len(p.put.mappings)+len(p.gone.mappings)+
		len(p.put.settings) > 0 {
		cfg := pl.o.Edit.Config()
		for d := range cfg.AllDomains {
			all[d.Name] = true
		}
	}
	for _, domains := range []*Objects{p.put, p.gone} {
		for name := range domains.domains {
			all[name] = true
		}
		for id := range domains.servers {
			all[id.Service] = true
		}
		for id := range domains.targets {
			all[id.Service] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// backends returns the backends after the plan of a document.
func (p *Plan) backends(view *registry.View) *impact.Backends {
	puts := make(map[registry.ID]impact.Server, len(p.put.servers))
	for id, server := range p.put.servers {
		puts[id] = impact.Server{Weight: server.Weight, Region: server.Region}
	}
	gone := make(map[registry.ID]bool, len(p.gone.servers))
	for id := range p.gone.servers {
		gone[id] = true
	}
	for id, t := range p.put.targets { // the known addresses of the target remain
		for b := range impact.AddressesOf(view, id) {
			puts[b.ID] = impact.Server{Weight: t.Weight, Region: t.Region}
		}
	}
	for id := range p.gone.targets {
		for b := range impact.AddressesOf(view, id) {
			gone[b.ID] = true
		}
	}
	return impact.NewBackends(view, api.SourceAPI, puts, func(id registry.ID) bool { return gone[id] })
}
