package httpapi

import (
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// postDrain answers POST /servers/{id}/drain. The body is optional.
func (s *Server) postDrain(c *call) (answer, error) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	var req api.DrainRequest
	if len(c.body) > 0 {
		if err := strictjson.Decode(c.body, &req); err != nil {
			return answer{}, err
		}
	}
	err = s.change(c, &changes.SetAdminState{Kind: api.OrderDrain, Target: targetOfServer(id), Share: req.Share,
		Duration: req.Duration, Reason: req.Reason, Source: req.Source, StartsAt: req.StartsAt,
		ExpiresIn: req.ExpiresIn})
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusAccepted, s.drainOf(id)}, nil
}

func targetOfServer(id registry.ID) changes.Target {
	return changes.Target{Service: id.Service, Address: id.Address, Port: id.Port}
}

// drainOf returns the active or planned drain of a server.
func (s *Server) drainOf(id registry.ID) (d api.Drain) {
	b := s.o.View.Get(id)
	if b != nil && b.Draining {
		d.Draining, d.DrainEndsAt, d.Share = true, api.MomentOrNull(b.DrainEndsAt), b.DrainTo
	}
	var safeAt time.Time
	if o, found := s.o.Changes.AdminState(api.OrderDrain, targetOfServer(id)); found {
		d.StartsAt, d.ExpiresAt = api.MomentOrNull(o.StartsAt), api.MomentOrNull(o.ExpiresAt)
		if !d.Draining {
			d.Share = o.Share
		}
		if !o.IsActive {
			d.Stage, safeAt = s.o.Drains.Planned(o)
		}
	}
	if b != nil && b.AdminDrain != nil {
		d.Stage, safeAt = s.o.Drains.Stage(b)
	}
	d.SafeAt = api.MomentOrNull(safeAt)
	return d
}

// deleteDrain answers DELETE /servers/{id}/drain. A drain that a connected agent requests continues; the answer
// contains it.
func (s *Server) deleteDrain(c *call) (answer, error) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	err = s.change(c, changes.EndAdminState{Kind: api.OrderDrain, Target: targetOfServer(id)})
	return ok(s.drainOf(id)), err
}
