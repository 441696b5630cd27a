package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// getHealthCheck answers GET /servers/{id}/health-check, of any server.
func (s *Server) getHealthCheck(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.getTargetCheck(c, id)
	}
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	view := s.edit.HealthCheckView(id, b.Check())
	view.HealthCheck.Note = b.CheckNote()
	return tagged(c, http.StatusOK, view, view), nil
}

// putHealthCheck answers PUT and PATCH /servers/{id}/health-check. A field that the body does not have takes its
// default with PUT, and stays with PATCH.
func (s *Server) putHealthCheck(c *call) (answer, error) {
	if id, is := targetID(c); is {
		return s.putTargetCheck(c, id)
	}
	if file, declared := s.declaredServer(c); declared {
		return s.layHealthCheck(c, file)
	}
	id, err := s.ownServer(c, "changed")
	if err != nil {
		return answer{}, err
	}
	var req api.HealthCheckChange
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	var view api.ServerHealthCheck
	_, err = s.changeServer(c, id, nil, func(server store.Server) any {
		return s.edit.HealthCheckView(id,
			server.Check)
	},
		func(server *store.Server) error {
			spec := server.Check
			if c.Request.Method == http.MethodPut {
				spec = objects.DefaultCheck()
			}
			spec, err := s.edit.EditCheck(spec, req)
			if err != nil {
				return err
			}
			server.Check, view = spec, s.edit.HealthCheckView(id, spec)
			return nil
		})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, view, view), nil
}

// layHealthCheck lays the values of a request over the check of a server of the configuration. With PUT, fields that
// the body leaves out get the file's values again.
func (s *Server) layHealthCheck(c *call, file config.StaticServer) (answer, error) {
	var req api.HealthCheckChange
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	now := func() (view api.ServerHealthCheck) {
		if b := s.o.View.Get(id); b != nil {
			view = s.edit.HealthCheckView(id, b.Check())
		}
		return view
	}
	ch := &operations.Change{Action: api.AuditUpdate, Resource: "server", ID: id.String()}
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		if err := c.condition.holds(now()); err != nil {
			return err
		}
		var before *definitions.Overlay
		if c.Request.Method == http.MethodPatch {
			before = d.Now().Overlay(definitions.OverServer, id.String())
		}
		all, err := s.edit.OverlayCheck(before, req, file.Check.Value())
		if err != nil {
			return err
		}
		return operations.LayOver(s.op, c.request(), d, ch, operations.OverlayRequest[definitions.ServerOver]{
			Kind: definitions.OverServer, Name: id.String(),
			Configured: objects.ServerFields(file), Change: definitions.ServerOver{HealthCheck: all},
			Check: func(definitions.ServerOver) error { return nil }})
	})
	if err != nil {
		return answer{}, err
	}
	view := now()
	return tagged(c, http.StatusOK, view, view), nil
}
