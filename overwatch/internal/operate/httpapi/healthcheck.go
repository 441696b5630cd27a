package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
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
func (s *Server) putHealthCheck(c *call, req api.HealthCheckChange) (answer, error) {
	if id, is := targetID(c); is {
		return s.putTargetCheck(c, id, req)
	}
	if file, declared := s.declaredServer(c); declared {
		return s.layHealthCheck(c, file, req)
	}
	id, err := s.ownServer(c, "changed")
	if err != nil {
		return answer{}, err
	}
	view := func(server model.Server) any { return s.edit.HealthCheckView(id, server.OwnCheck()) }
	after, err := s.changeServer(c, id, nil, view, func(server *model.Server) error {
		return s.edit.EditHealthCheck(server, req, c.Request.Method == http.MethodPut)
	})
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, view(after), view(after)), nil
}

// layHealthCheck lays the values of a request over the check of a server of the configuration. With PUT, fields that
// the body leaves out get the file's values again.
func (s *Server) layHealthCheck(c *call, file config.StaticServer, req api.HealthCheckChange) (answer, error) {
	id := registry.ID{Service: file.Service, Address: file.Address, Port: file.Port}
	now := func() (view api.ServerHealthCheck) {
		if b := s.o.View.Get(id); b != nil {
			view = s.edit.HealthCheckView(id, b.Check())
		}
		return view
	}
	overlay := s.serverOverlay(file, api.ServerChange{healthCheckField: req})
	if merge := overlay.Merge; c.Request.Method == http.MethodPut {
		overlay.Merge = func(before, change api.ServerChange) (api.ServerChange, error) {
			reset, err := before.Merge(api.ServerChange{healthCheckField: nil})
			if err != nil {
				return nil, err
			}
			return merge(reset, change)
		}
	}
	ch := &operations.Change{Action: api.AuditUpdate, Resource: "server", ID: id.String()}
	err := s.op.Define(c.request(), ch, func(d *definitions.Draft) error {
		if err := c.condition.holds(now()); err != nil {
			return err
		}
		return operations.LayOver(s.op, c.request(), d, ch, overlay)
	})
	if err != nil {
		return answer{}, err
	}
	view := now()
	return tagged(c, http.StatusOK, view, view), nil
}

// healthCheckField is the name of the health check in a server.
const healthCheckField = "health_check"
