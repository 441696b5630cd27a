package httpapi

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/control/strictjson"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// postDrain answers POST /servers/{id}/drain. The body may be left out.
func (s *Server) postDrain(c *call) (answer, error) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	o, err := s.newDrain(c, id)
	if err != nil {
		return answer{}, err
	}
	if s.o.View.Get(id) == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	if err := s.giveOrder(c, o); err != nil {
		return answer{}, err
	}
	return answer{http.StatusAccepted, s.drainOf(id)}, nil
}

// newDrain checks the body of a request and returns its drain.
func (s *Server) newDrain(c *call, id registry.ID) (o registry.Order, err error) {
	var req api.DrainRequest
	if len(c.body) > 0 {
		if err := strictjson.Decode(c.body, &req); err != nil {
			return o, err
		}
	}
	over := s.o.Orders.DrainTime(id.Service)
	if req.Duration != "" {
		if over, err = time.ParseDuration(req.Duration); err != nil || over <= 0 || over > api.MaxDrain {
			return o, badRequest("duration is %.64q: it must be above zero and at most %s, such as 30s", req.Duration,
				api.MaxDrain)
		}
	}
	if req.Share < 0 || req.Share >= 1 {
		return o, badRequest("share is %v: it must be the part that stays, from 0 to below 1, such as 0.25", req.Share)
	}
	o, err = s.newOrder(c, api.OrderDrain, target{id.Service, id.Address, id.Port},
		orderRequest{req.Reason, req.Source, req.StartsAt, req.ExpiresIn}, false)
	o.Share, o.Over = req.Share, over
	return o, err
}

// drainOf returns the drain of a server, in force or planned.
func (s *Server) drainOf(id registry.ID) (d api.Drain) {
	if b := s.o.View.Get(id); b != nil && b.Draining {
		d.Draining, d.DrainEndsAt, d.Share = true, api.MomentOrNull(b.DrainEndsAt), b.DrainTo
	}
	if o, found := s.findOrder(api.OrderDrain, target{id.Service, id.Address, id.Port}); found {
		d.StartsAt, d.ExpiresAt = api.MomentOrNull(o.StartsAt), api.MomentOrNull(o.ExpiresAt)
		if !d.Draining {
			d.Share = o.Share
		}
	}
	return d
}

// deleteDrain answers DELETE /servers/{id}/drain, which takes back a planned drain too, and one that an agent has left
// at its goodbye. A drain by an agent that is there goes on, and the answer says so. Without any drain it answers 404.
func (s *Server) deleteDrain(c *call) (answer, error) {
	id, err := objects.ParseID(c.Param("id"))
	if err != nil {
		return answer{}, err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	o, found := s.findOrder(api.OrderDrain, target{id.Service, id.Address, id.Port})
	if found {
		if err := s.takeBack(c, orderChange(api.AuditUndrain, o), o); err != nil {
			return answer{}, err
		}
		_, err = s.o.Orders.EndParting(c.Request.Context(), id)
		return ok(s.drainOf(id)), err
	}
	b := s.o.View.Get(id)
	if b == nil {
		return answer{}, notFound("no server %s is known", id)
	}
	drained := b.Draining
	ended, err := s.o.Orders.EndParting(c.Request.Context(), id)
	switch {
	case err != nil:
		return answer{}, err
	case ended:
		err = s.commit(c, &change{action: api.AuditUndrain, resource: "server", id: id.String()},
			func(context.Context, store.Entry) error { return nil })
	case !drained:
		return answer{}, notFound("no drain of %s is in force or planned", id)
	}
	return ok(s.drainOf(id)), err
}
