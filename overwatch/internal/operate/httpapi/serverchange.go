package httpapi

import (
	"bytes"
	"errors"
	"net/http"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
	"gslb.internal/shared/wire"
)

// postServer answers POST /servers.
func (s *Server) postServer(c *call, req api.ServerChange) (answer, error) {
	cfg, _ := s.o.Config()
	domain, found := s.edit.FindDomain(cfg, req.Text("service"))
	if !found {
		if _, err := s.edit.NewServer(req, model.FromOperator); err != nil {
			return answer{}, err // an unknown or wrong field, such as a misspelled service
		}
		return answer{}, badRequest("service is %.260q: it must be the name of a domain of this node",
			req.Text("service"))
	}
	return s.createServer(c, "server", cfg, domain, req)
}

// createServer checks a server for a domain and creates it. resource is its name in the audit log.
func (s *Server) createServer(c *call, resource string, cfg *config.Config, domain config.Domain,
	req api.ServerChange) (answer, error) {
	s.spellRegion(req)
	req["service"] = domain.Name
	server, err := s.edit.NewServer(req, model.FromOperator)
	if err != nil {
		return answer{}, err
	}
	if server.Target == "" && domain.AnswersNames() {
		return answer{},
			badRequest("service is %q, whose answers are names (answer: cname): give a host name as target, "+
				"since an address is never answered", server.Service)
	}
	// A domain's backend needs no region where there are none.
	placed := resource != "backend" || server.Region != "" || len(cfg.Regions) > 0
	if placed {
		err = objects.CheckRegion(cfg, server.Region)
	}
	if err = errors.Join(err, s.edit.CheckNewServer(server, nil, req)); err != nil {
		return answer{}, err
	}
	server.CreatedAt = stamp(s.o.Now())
	server.UpdatedAt = server.CreatedAt
	if server.Target != "" {
		return s.createTarget(c, server)
	}
	create := changes.CreateServer{Server: *server, Resource: resource}
	if placed {
		create.InRegion = s.op.RegionExists(server.Region)
	}
	err = s.change(c, create)
	return answer{http.StatusCreated, api.Named{Message: "server created", ID: server.ID()}}, err
}

// spellRegion replaces the region in a request by its id.
func (s *Server) spellRegion(req api.ServerChange) {
	if region := req.Text("region"); region != "" {
		req["region"] = s.regionNames().Of(region)
	}
}

// patchServer answers PATCH /servers/{id}.
func (s *Server) patchServer(c *call, req api.ServerChange) (answer, error) {
	s.spellRegion(req)
	if id, is := targetID(c); is {
		return s.patchTarget(c, id, req)
	}
	if server, found := s.declaredServer(c); found {
		return s.layServer(c, server, req)
	}
	id, err := s.ownServer(c, "changed")
	if err != nil {
		return answer{}, err
	}
	var region *string
	if req.Has("region") {
		region = new(req.Text("region"))
	}
	after, err := s.changeServer(c, id, region, tagOfServer, func(server *model.Server) error {
		return s.edit.EditServer(server, req)
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.Named{Message: "server changed", ID: id.String()}, tagOfServer(after)), nil
}

// declaredServer returns the server of the path if the configuration declares it and the API has not created it.
func (s *Server) declaredServer(c *call) (found config.StaticServer, ok bool) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return found, false
	}
	if _, ours := s.o.Inventory.Get(id); ours || s.o.View.Get(id) == nil {
		return found, false
	}
	cfg, _ := s.o.Config()
	return cfg.Declared(id.String())
}

// layServer lays the values of a request over a server of the configuration.
func (s *Server) layServer(c *call, file config.StaticServer, req api.ServerChange) (answer, error) {
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	tag := func() (now any) {
		if b := s.o.View.Get(id); b != nil {
			now = s.changeableServer(b)
		}
		return now
	}
	ch := &operations.Change{Action: api.AuditUpdate, Resource: "server", ID: id.String()}
	key := definitions.OverlayKey(definitions.OverServer, id.String())
	set, _ := s.o.Definitions.Defined()
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		object := tag()
		if laid := d.Now().Settings[key]; !bytes.Equal(laid, set.Settings[key]) {
			object = laid // by a change that is not in force yet, such as one of the same batch: no tag is of it
		}
		if err := c.condition.holds(object); err != nil {
			return err
		}
		return operations.LayOver(s.op, c.request(), d, ch, s.serverOverlay(file, req))
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.Named{Message: api.ServerLaidOver, ID: id.String()}, tag()),
		nil
}

// serverOverlay returns the request to lay values over a server of the configuration.
func (s *Server) serverOverlay(file config.StaticServer,
	req api.ServerChange) operations.OverlayRequest[api.ServerChange] {
	return operations.OverlayRequest[api.ServerChange]{Kind: definitions.OverServer, Name: file.ID(),
		Configured: model.All(s.edit.ConfiguredServer(file)), Change: req,
		Merge: func(before, change api.ServerChange) (api.ServerChange, error) {
			return s.edit.MergeServerOverlay(file, before, change)
		},
		Check: func(all api.ServerChange) error { return s.edit.CheckServerOverlay(file, all) }}
}

// tagOfServer returns the value from which the ETag of a server of the API is made.
func tagOfServer(server model.Server) any { return server }

// changeServer edits a server of the API. covered returns the value from which the ETag in the request's condition is
// made. region is nil if the region does not change.
func (s *Server) changeServer(c *call, id registry.ID, region *string, covered func(model.Server) any,
	edit func(*model.Server) error) (after model.Server, err error) {
	e := &changes.EditServer{ID: id, Resource: "server", Covered: covered, Edit: func(server *model.Server) error {
		server.UpdatedAt = stamp(s.o.Now())
		return edit(server)
	}}
	if region != nil {
		e.InRegion = s.op.RegionExists(*region)
	}
	err = s.change(c, e)
	return e.After, err
}

// deleteServer answers DELETE /servers/{id}.
func (s *Server) deleteServer(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.deleteTarget(c, id)
	}
	id, err := s.ownServer(c, "deleted")
	if err != nil {
		return answer{}, err
	}
	return s.removeServer(c, "server", id)
}

func (s *Server) removeServer(c *call, resource string, id registry.ID) (answer, error) {
	return noContent(), s.op.DeleteServer(c.request(), resource, id)
}

// ownServer reads the id of a server that the API has created. done completes the sentence of the error, such as
// "deleted".
func (s *Server) ownServer(c *call, done string) (registry.ID, error) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return id, err
	}
	b := s.o.View.Get(id)
	switch {
	case b == nil:
		return id, notFound("no server %s is known", id)
	case b.Host().FromAPI:
		t := definitions.TargetID{Service: id.Service, Name: b.Host().Name, Port: id.Port}
		return id, badRequest("server %s is an address of %s: only that can be %s", id, t, done)
	case b.Source != api.SourceAPI:
		return id, badRequest("server %s comes from the %s source: only servers of the api source can be %s here", id,
			b.Source, done)
	}
	return id, nil
}

// postDomainBackend answers POST /domains/{name}/backends.
func (s *Server) postDomainBackend(c *call, req api.ServerChange) (answer, error) {
	cfg, _ := s.o.Config()
	domain, found := s.edit.FindDomain(cfg, c.Param("name"))
	switch {
	case !found:
		return answer{}, badRequest("no domain %.260q is configured", c.Param("name"))
	case req.Has("service") && wire.CanonicalService(req.Text("service")) != domain.Name:
		return answer{}, badRequest("service is %.260q: the path has the domain %s", req.Text("service"), domain.Name)
	case req.Text("region") != "":
	case len(domain.Regions) > 0:
		req["region"] = domain.Regions[0]
	case len(cfg.Regions) > 0:
		req["region"] = cfg.Regions[0].Name
	}
	if !req.Has("weight") {
		req["weight"] = api.DefaultBackendWeight
	}
	return s.createServer(c, "backend", cfg, domain, req)
}

// deleteDomainBackend answers DELETE /domains/{name}/backends/{id}.
func (s *Server) deleteDomainBackend(c *call) (answer, error) {
	id, err := s.ownServer(c, "deleted")
	if err != nil {
		return answer{}, err
	}
	if id.Service != wire.CanonicalService(c.Param("name")) {
		return answer{}, notFound("%s is not a backend of %.260q", id, c.Param("name"))
	}
	return s.removeServer(c, "backend", id)
}
