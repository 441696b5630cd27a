package httpapi

import (
	"errors"
	"net/http"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// targetID reads the id of a server by host name from the path; is reports whether it is one.
func targetID(c *call) (id definitions.TargetID, is bool) {
	id, err := definitions.ParseTargetID(c.Param("id"))
	return id, err == nil
}

func (s *Server) targetView(id definitions.TargetID, t *definitions.TargetServer) api.ServerTarget {
	view := api.ServerTarget{ID: id.String(), Service: id.Service, Target: id.Name, Port: int(id.Port),
		Weight: t.Weight,
		Region: t.Region, Agent: t.Agent, AllowedCIDRs: objects.NetworkTexts(t.AllowedCIDRs), Owner: t.Owner,
		Addresses: []string{}, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt}
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
		list = append(list, s.targetView(t.ID, t.TargetServer))
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

// createTarget creates a server by host name for a domain. Its addresses serve once they are resolved and checked.
func (s *Server) createTarget(c *call, domain config.Domain, req api.ServerCreate) (answer, error) {
	req.Service = domain.Name
	s.foldRegion(&req.Region)
	id, t, err := objects.NewTarget(req)
	if err != nil {
		return answer{}, err
	}
	cfg, _ := s.o.Config()
	if _, err := s.edit.CheckOfNew(cfg, req); err != nil {
		return answer{}, err
	}
	t.CreatedAt = stamp(s.o.Now())
	t.UpdatedAt = t.CreatedAt
	ch := &operations.Change{Action: api.AuditCreate, Resource: "server", ID: id.String(), After: t}
	err = s.op.DefineTarget(c.request(), ch, t.Region, func(d *definitions.Draft) error {
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
		return d.PutTarget(id, t)
	})
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusCreated, api.Named{Message: "server created", ID: id.String()}}, nil
}

// changeTarget edits a server by host name of the API. edit may be called more than once: first with the present
// server, to find its errors and the new region, then with the server in the draft. covered returns the value from
// which the ETag in the request's condition is made.
func (s *Server) changeTarget(c *call, id definitions.TargetID, covered func(*definitions.TargetServer) any,
	edit func(*definitions.TargetServer) error) (after *definitions.TargetServer, err error) {
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
		if err := errors.Join(edit(&next), objects.CheckTarget(&next)); err != nil {
			return err
		}
		next.UpdatedAt = stamp(s.o.Now())
		ch.Before, ch.After, after = before, &next, &next
		return d.PutTarget(id, &next)
	})
	return after, err
}

func wholeTarget(t *definitions.TargetServer) any { return t }

// patchTarget answers PATCH /servers/{id} of a server by host name.
func (s *Server) patchTarget(c *call, id definitions.TargetID) (answer, error) {
	var req api.ServerPatch
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	s.foldRegion(req.Region)
	after, err := s.changeTarget(c, id, wholeTarget, func(t *definitions.TargetServer) (err error) {
		t.Weight, t.Region, t.Agent = objects.ValueOr(req.Weight, t.Weight), objects.ValueOr(req.Region, t.Region),
			objects.ValueOr(req.Agent, t.Agent)
		if req.AllowedCIDRs != nil {
			t.AllowedCIDRs, err = objects.ParseNetworks(*req.AllowedCIDRs)
		}
		return err
	})
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

func (s *Server) targetCheckView(id definitions.TargetID, t *definitions.TargetServer) api.ServerHealthCheck {
	cfg, _ := s.o.Config()
	return s.edit.HealthCheckView(id, t.Spec(cfg))
}

// putTargetCheck answers PUT and PATCH /servers/{id}/health-check of a server by host name.
func (s *Server) putTargetCheck(c *call, id definitions.TargetID) (answer, error) {
	var req api.HealthCheckChange
	if err := c.decode(&req); err != nil {
		return answer{}, err
	}
	cfg, _ := s.o.Config()
	covered := func(t *definitions.TargetServer) any { return s.targetCheckView(id, t) }
	after, err := s.changeTarget(c, id, covered, func(t *definitions.TargetServer) error {
		spec := t.Spec(cfg)
		if c.Request.Method == http.MethodPut {
			spec = objects.DefaultCheck()
		}
		spec, err := s.edit.EditCheck(spec, req)
		t.HealthCheck = objects.OwnCheck(spec, cfg.CheckIn(t.Region))
		return err
	})
	if err != nil {
		return answer{}, err
	}
	view := s.targetCheckView(id, after)
	return tagged(c, http.StatusOK, view, view), nil
}
