package httpapi

import (
	"cmp"
	"slices"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// declaredServer holds the settings that a plan gives a server.
type declaredServer struct {
	weight int
	region string
}

// plannedBackends holds the backends as they would be after a plan. New ones count as healthy.
type plannedBackends struct {
	view   *registry.View
	source api.Source // of the servers that the plan declares
	puts   map[registry.ID]declaredServer
	gone   func(registry.ID) bool
	more   map[string][]*registry.Backend // new ones by service
}

func newPlannedBackends(view *registry.View, source api.Source, puts map[registry.ID]declaredServer,
	gone func(registry.ID) bool) *plannedBackends {
	b := &plannedBackends{view, source, puts, gone, map[string][]*registry.Backend{}}
	for id, server := range puts {
		if view.Get(id) == nil {
			b.more[id.Service] = append(b.more[id.Service], &registry.Backend{ID: id, Weight: server.weight,
				Region: server.region, MayServe: true, Share: 1, Status: api.EffectiveHealthy, Source: source})
		}
	}
	return b
}

// Service returns the backends of a service.
func (b *plannedBackends) Service(name string) []*registry.Backend {
	var list []*registry.Backend
	for _, backend := range b.view.Service(name) {
		if backend.Source == b.source {
			put, declared := b.puts[backend.ID]
			switch {
			case declared:
				changed := *backend
				changed.Weight, changed.Region = put.weight, put.region
				backend = &changed
			case b.gone(backend.ID):
				continue
			}
		}
		list = append(list, backend)
	}
	list = append(list, b.more[name]...)
	slices.SortFunc(list, func(x, y *registry.Backend) int {
		return cmp.Or(x.Address.Compare(y.Address), cmp.Compare(x.Port, y.Port))
	})
	return list
}

// backends returns the backends as they would be after a document's plan.
func (p *documentPlan) backends(view *registry.View) *plannedBackends {
	puts := make(map[registry.ID]declaredServer, len(p.put.servers))
	for id, server := range p.put.servers {
		puts[id] = declaredServer{server.Weight, server.Region}
	}
	gone := make(map[registry.ID]bool, len(p.gone.servers))
	for id := range p.gone.servers {
		gone[id] = true
	}
	for id, t := range p.put.targets { // those of its addresses that are known stay
		for b := range addressesOf(view, id) {
			puts[b.ID] = declaredServer{t.Weight, t.Region}
		}
	}
	for id := range p.gone.targets {
		for b := range addressesOf(view, id) {
			gone[b.ID] = true
		}
	}
	return newPlannedBackends(view, api.SourceAPI, puts, func(id registry.ID) bool { return gone[id] })
}

// backendsOf returns the backends as they would be under another configuration. The claim of an agent about a server
// that is no longer declared stays.
func backendsOf(view *registry.View, cfg *config.Config) (*plannedBackends, error) {
	puts := map[registry.ID]declaredServer{}
	for server := range cfg.StaticServers() {
		if server.Made {
			continue
		}
		if server.Target != nil { // the addresses stay
			for _, b := range view.Service(server.Service) {
				if b.Part().Target == server.Target.Name && b.Port == server.Port {
					puts[b.ID] = declaredServer{server.Weight, server.Region}
				}
			}
			continue
		}
		id, err := registry.NewID(server.Service, server.Address, server.Port)
		if err != nil {
			return nil, err
		}
		puts[id] = declaredServer{server.Weight, server.Region}
	}
	return newPlannedBackends(view, api.SourceStatic, puts, func(id registry.ID) bool {
		b := view.Get(id)
		return b == nil || b.AgentID == ""
	}), nil
}
