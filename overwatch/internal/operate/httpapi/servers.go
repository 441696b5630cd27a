package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// listServers answers GET /servers.
func (s *Server) listServers(c *call) (answer, error) {
	list := api.ServerList{GeneratedAt: stamp(s.o.Now())}
	list.Servers, list.Total = pageOf(ordered(s.o.View), c.page, s.serverView)
	list.Targets = s.targetViews()
	return ok(list), nil
}

// getServer answers GET /servers/{id}.
func (s *Server) getServer(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.getTarget(c, id)
	}
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	return tagged(c, http.StatusOK, s.serverView(b), s.changeableServer(b)), nil
}

// changeableServer returns the value from which the ETag of any server is made.
func (s *Server) changeableServer(b *registry.Backend) any {
	if server, ours := s.o.Inventory.Get(b.ID); ours {
		return tagOfServer(server)
	}
	return []any{b.Weight, b.Region, b.Source, b.DeclaredAgent}
}

func (s *Server) serverView(b *registry.Backend) api.Server {
	set, file := s.o.Definitions.Defined()
	return api.Server{
		Overlay:         objects.OverlayView(set, file, definitions.OverServer, b.ID.String()),
		ID:              b.ID.String(),
		Service:         b.Service,
		Address:         b.Address.String(),
		Target:          b.Host().Name,
		Port:            int(b.Port),
		Weight:          b.Weight,
		Region:          b.Region,
		Source:          b.Source,
		EffectiveStatus: b.Status,
		AgentHealthy:    b.Reported,
		Agent:           b.DeclaredAgent,
		Draining:        b.Draining,
		CreatedAt:       stamp(b.CreatedAt),
		UpdatedAt:       stamp(b.UpdatedAt),
	}
}
