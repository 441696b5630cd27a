package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// targetID reads the id of a server by host name from the path; is reports whether it is one.
func targetID(c *call) (id definitions.TargetID, is bool) {
	id, err := definitions.ParseTargetID(c.Param("id"))
	return id, err == nil
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

// targetViews lists the servers by host name of the API.
func (s *Server) targetViews() (list []api.ServerTarget) {
	set, _ := s.o.Definitions.Defined()
	for _, t := range set.Targets() {
		list = append(list, s.targetView(definitions.TargetIDOf(t), t))
	}
	return list
}

// getTarget answers GET /servers/{id} of a server by host name.
func (s *Server) getTarget(c *call, id definitions.TargetID) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	t := set.Target(id)
	if t == nil {
		return answer{}, objects.UnknownTarget(set, id)
	}
	return tagged(c, http.StatusOK, s.targetView(id, t), t), nil
}

// createTarget creates a server by host name. Its addresses serve once they are resolved and checked.
func (s *Server) createTarget(c *call, t *model.Server) (answer, error) {
	id := definitions.TargetIDOf(t)
	ch := &operations.Change{Action: api.AuditCreate, Resource: "server", ID: id.String(), After: t}
	err := s.op.DefineTarget(c.request(), ch, t.Region, func(d *definitions.Draft) error {
		switch {
		case d.Now().Target(id) != nil:
			return badRequest("server %s exists already", id)
		case len(d.Now().Targets()) >= definitions.MaxTargets:
			return fault.Fullf("the API has created %d servers by host name, which is "+
				"the most",
				definitions.MaxTargets)
		}
		if err := s.edit.CheckNewTarget(d, id); err != nil {
			return err
		}
		return d.PutTarget(t)
	})
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, api.Named{Message: "server created", ID: id.String()}}, nil
}

// changeTarget edits a server by host name of the API. edit may be called more than once: first with the present
// server, to find its errors and the new region, then with the server in the draft. covered returns the value from
// which the ETag in the request's condition is made.
func (s *Server) changeTarget(c *call, id definitions.TargetID, covered func(*model.Server) any,
	edit func(*model.Server) error) (after *model.Server, err error) {
	set, _ := s.o.Definitions.Defined()
	now := set.Target(id)
	if now == nil {
		return nil, objects.UnknownTarget(set, id)
	}
	changed := *now
	if err := edit(&changed); err != nil {
		return nil, err
	}
	ch := &operations.Change{Action: api.AuditUpdate, Resource: "server", ID: id.String()}
	err = s.op.DefineTarget(c.request(), ch, changed.Region, func(d *definitions.Draft) error {
		before := d.Now().Target(id)
		if before == nil {
			return objects.UnknownTarget(d.Now(), id)
		}
		if err := c.condition.holds(covered(before)); err != nil {
			return err
		}
		next := *before
		if err := edit(&next); err != nil {
			return err
		}
		next.UpdatedAt = stamp(s.o.Now())
		ch.Before, ch.After, after = before, &next, &next
		return d.PutTarget(&next)
	})
	return after, err
}

func wholeTarget(t *model.Server) any { return t }

// patchTarget answers PATCH /servers/{id} of a server by host name.
func (s *Server) patchTarget(c *call, id definitions.TargetID, req api.ServerChange) (answer, error) {
	after, err := s.changeTarget(c, id, wholeTarget, func(t *model.Server) error { return s.edit.EditServer(t, req) })
	if err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, api.Named{Message: "server changed", ID: id.String()}, after), nil
}

// deleteTarget answers DELETE /servers/{id} of a server by host name.
func (s *Server) deleteTarget(c *call, id definitions.TargetID) (answer, error) {
	ch := &operations.Change{Action: api.AuditDelete, Resource: "server", ID: id.String()}
	return noContent(), s.op.RemoveTarget(c.request(), ch, id, func(d *definitions.Draft) error {
		before := d.Now().Target(id)
		if before == nil {
			return objects.UnknownTarget(d.Now(), id)
		}
		if err := c.condition.holds(before); err != nil {
			return err
		}
		ch.Before = before
		d.DeleteTarget(id)
		return nil
	})
}

// getTargetCheck answers GET /servers/{id}/health-check of a server by host name.
func (s *Server) getTargetCheck(c *call, id definitions.TargetID) (answer, error) {
	set, _ := s.o.Definitions.Defined()
	t := set.Target(id)
	if t == nil {
		return answer{}, objects.UnknownTarget(set, id)
	}
	view := s.targetCheckView(id, t)
	return tagged(c, http.StatusOK, view, view), nil
}

func (s *Server) targetCheckView(id definitions.TargetID, t *model.Server) api.ServerHealthCheck {
	cfg, _ := s.o.Config()
	return s.edit.HealthCheckView(id, definitions.TargetCheck(cfg, t))
}

// putTargetCheck answers PUT and PATCH /servers/{id}/health-check of a server by host name.
func (s *Server) putTargetCheck(c *call, id definitions.TargetID, req api.HealthCheckChange) (answer, error) {
	covered := func(t *model.Server) any { return s.targetCheckView(id, t) }
	after, err := s.changeTarget(c, id, covered, func(t *model.Server) error {
		return s.edit.EditHealthCheck(t, req, c.Request.Method == http.MethodPut)
	})
	if err != nil {
		return answer{}, err
	}
	view := s.targetCheckView(id, after)
	return tagged(c, http.StatusOK, view, view), nil
}
