package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// listServers answers GET /servers.
func (s *Server) listServers(c *call) (answer, error) {
	list := api.ServerList{GeneratedAt: stamp(s.o.Now())}
	list.Servers, list.Total = pageOf(within(c, ordered(s.o.View), s.seesBackend(c)), c.page, s.serverView)
	list.Targets = s.targetViews(c)
	return ok(list), nil
}

// getServer answers GET /servers/{id}.
func (s *Server) getServer(c *call) (answer, error) {
	if id, err := definitions.ParseTargetID(c.Param("id")); err == nil {
		set, _ := s.o.Definitions.Defined()
		t := set.Target(id)
		if t == nil {
			return answer{}, objects.UnknownTarget(set, id)
		}
		return tagged(c, http.StatusOK, s.targetView(id, t), t), nil
	}
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	return tagged(c, http.StatusOK, s.serverView(b), s.op.ServerTag(b)), nil
}

// targetViews returns the API servers with a host name that the token includes.
func (s *Server) targetViews(c *call) (list []api.ServerTarget) {
	set, _ := s.o.Definitions.Defined()
	for _, t := range set.Targets() {
		if c.isLimited() && !s.seesTarget(c, t) {
			continue
		}
		list = append(list, s.targetView(definitions.TargetIDOf(t), t))
	}
	return list
}

func (s *Server) targetView(id definitions.TargetID, t *model.Server) api.ServerTarget {
	view := api.ServerTarget{ID: id.String(), Server: *t.Shown(), Addresses: []string{}}
	for b := range impact.AddressesOf(s.o.View, id) {
		view.Addresses = append(view.Addresses, b.Address.String())
	}
	if s.o.TargetProblem != nil {
		view.Problem = s.o.TargetProblem(id)
	}
	return view
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

// postServer answers POST /servers.
func (s *Server) postServer(c *call, req api.ServerChange) (answer, error) {
	id, err := s.op.CreateServer(c.request(), req)
	return answer{http.StatusCreated, api.Named{Message: "server created", ID: id}}, err
}

// postDomainBackend answers POST /domains/{name}/backends.
func (s *Server) postDomainBackend(c *call, req api.ServerChange) (answer, error) {
	id, err := s.op.AddBackend(c.request(), c.Param("name"), req)
	return answer{http.StatusCreated, api.Named{Message: "server created", ID: id}}, err
}

// patchServer answers PATCH /servers/{id}.
func (s *Server) patchServer(c *call, req api.ServerChange) (answer, error) {
	changed, err := s.op.ChangeServer(c.request(), c.Param("id"), req)
	if err != nil {
		return answer{}, err
	}
	named := api.Named{Message: "server changed", ID: changed.ID}
	if changed.Overlay {
		named.Message = api.ServerOverlayChanged
	}
	return tagged(c, http.StatusOK, named, changed.Covered), nil
}

// deleteServer answers DELETE /servers/{id}.
func (s *Server) deleteServer(c *call) (answer, error) {
	return noContent(), s.op.DeleteServer(c.request(), c.Param("id"))
}

// deleteDomainBackend answers DELETE /domains/{name}/backends/{id}.
func (s *Server) deleteDomainBackend(c *call) (answer, error) {
	return noContent(), s.op.DeleteBackend(c.request(), c.Param("name"), c.Param("id"))
}

// getHealthCheck answers GET /servers/{id}/health-check.
func (s *Server) getHealthCheck(c *call) (answer, error) {
	view, err := s.op.HealthCheck(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, view, view), nil
}

// putHealthCheck answers PUT and PATCH /servers/{id}/health-check.
func (s *Server) putHealthCheck(c *call, req api.HealthCheckChange) (answer, error) {
	view, err := s.op.ChangeHealthCheck(c.request(), c.Param("id"), req)
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, view, view), nil
}
