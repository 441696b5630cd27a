package httpapi

import (
	"github.com/gin-gonic/gin"

	"gslb.internal/overwatch/internal/registry"
	"gslb.internal/shared/api"
)

// listServers answers GET /servers.
func (s *Server) listServers(c *gin.Context) (answer, error) {
	_, p, err := listQuery(c)
	if err != nil {
		return answer{}, err
	}
	list := api.ServerList{GeneratedAt: stamp(s.o.Now())}
	list.Servers, list.Total = pageOf(ordered(s.o.View), p, serverView)
	return ok(list), nil
}

// getServer answers GET /servers/{id}.
func (s *Server) getServer(c *gin.Context) (answer, error) {
	id, err := parseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	return ok(serverView(b)), nil
}

func serverView(b *registry.Backend) api.Server {
	return api.Server{
		ID:              b.ID.String(),
		Service:         b.Service,
		Address:         b.Address.String(),
		Port:            int(b.Port),
		Weight:          b.Weight,
		Region:          b.Region,
		Source:          b.Source,
		EffectiveStatus: b.Status,
		AgentHealthy:    b.Claim,
		Draining:        b.Draining,
		CreatedAt:       stamp(b.CreatedAt),
		UpdatedAt:       stamp(b.UpdatedAt),
	}
}
