package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// putWeight answers PUT on the weight of one backend.
func (s *Server) putWeight(c *call, req api.WeightRequest) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	if req.Weight == nil {
		return answer{}, badRequest("weight is missing: it must be from 0 to %d", api.MaxWeight)
	}
	if *req.Weight < 0 || *req.Weight > api.MaxWeight {
		return answer{}, badRequest("weight is %d: it must be from 0 to %d", *req.Weight, api.MaxWeight)
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	o, err := s.newOrder(c, api.OrderWeight, t, orderRequest{req.Reason, req.Source, req.StartsAt, req.ExpiresIn}, true)
	if err != nil {
		return answer{}, err
	}
	if o.Weight = *req.Weight; !s.knows(t) {
		return answer{}, notFound("no backend of %s is known", t)
	}
	before, replaces := s.findOrder(api.OrderWeight, t)
	if err := c.condition.holds(recordOrNil(before, replaces)); err != nil {
		return answer{}, err
	}
	if o.Weight == 0 {
		done, err := s.safely(c, t.zeroWeight())
		defer done()
		if err != nil {
			return answer{}, err
		}
	}
	if o, err = s.takeOrder(c, api.AuditWeight, o); err != nil {
		return answer{}, err
	}
	return tagged(c, http.StatusOK, o.Record(), o.Record()), nil
}

// deleteWeight answers DELETE on the weight of one backend.
func (s *Server) deleteWeight(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	before, found := s.findOrder(api.OrderWeight, t)
	if !found {
		return answer{}, notFound("%s has its declared weight: none by an operator is in force or planned", t)
	}
	if err := c.condition.holds(before.Record()); err != nil {
		return answer{}, err
	}
	return noContent(), s.dropOrder(c, api.AuditWeight, before)
}

// recordOrNil returns the value from which the ETag of an order is made, nil for none.
func recordOrNil(o registry.Order, found bool) any {
	if !found {
		return nil
	}
	return o.Record()
}

// zeroWeight returns the set of the backend that a weight of 0 leaves without traffic while another may serve.
func (t target) zeroWeight() withdrawal {
	g := t.takenOut()
	g.alter, g.answer = explain.MarkDrained, api.AnswerZeroWeight
	return g
}
