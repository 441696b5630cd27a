package impact

import (
	"cmp"
	"slices"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
)

// Server is the settings of a server after a plan.
type Server struct {
	Weight int
	Region string
}

// Backends contains the backends after a plan. It treats new backends as healthy. It implements publish.Backends.
type Backends struct {
	view   *registry.View
	source api.Source // of the servers that the plan declares
	puts   map[registry.ID]Server
	gone   func(registry.ID) bool
	more   map[string][]*registry.Backend // new backends by service
}

// NewBackends returns the backends of a view after a plan. The plan declares the servers puts and removes the servers
// for which gone returns true. source is the source of puts.
func NewBackends(view *registry.View, source api.Source, puts map[registry.ID]Server,
	gone func(registry.ID) bool) *Backends {
	b := &Backends{view, source, puts, gone, map[string][]*registry.Backend{}}
	for id, server := range puts {
		if view.Get(id) == nil {
			b.more[id.Service] = append(b.more[id.Service], &registry.Backend{ID: id, Weight: server.Weight,
				Region: server.Region, MayServe: true, Share: 1, Status: api.EffectiveHealthy, Source: source})
		}
	}
	return b
}

// Service returns the backends of a service.
func (b *Backends) Service(name string) []*registry.Backend {
	var list []*registry.Backend
	for _, backend := range b.view.Service(name) {
		if backend.Source == b.source {
			put, declared := b.puts[backend.ID]
			switch {
			case declared:
				changed := *backend
				changed.Weight, changed.Region = put.Weight, put.Region
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

// UnderConfig returns the backends under another configuration. A server that the other configuration does not declare
// remains if an agent reports it.
func UnderConfig(view *registry.View, cfg *config.Config) (*Backends, error) {
	puts := map[registry.ID]Server{}
	for server := range cfg.StaticServers() {
		if server.Made {
			continue
		}
		if server.Target != nil { // the addresses stay
			for _, b := range view.Service(server.Service) {
				if b.Host().Name == server.Target.Name && b.Port == server.Port {
					puts[b.ID] = Server{server.Weight, server.Region}
				}
			}
			continue
		}
		id, err := registry.NewID(server.Service, server.Address, server.Port)
		if err != nil {
			return nil, err
		}
		puts[id] = Server{server.Weight, server.Region}
	}
	return NewBackends(view, api.SourceStatic, puts, func(id registry.ID) bool {
		b := view.Get(id)
		return b == nil || b.AgentID == ""
	}), nil
}
