package httpapi

import (
	"cmp"
	"net/http"

	"gslb.internal/shared/api"
)

// putWeight answers PUT and PATCH on the weight of one backend. A field that the body does not have stays with PATCH.
func (s *Server) putWeight(c *call, req api.WeightRequest) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	before, replaces := s.findOrder(api.OrderWeight, t)
	patches := c.Request.Method == http.MethodPatch
	switch {
	case patches && !replaces:
		return answer{}, noWeight(t)
	case patches:
		req.Weight = cmp.Or(req.Weight, &before.Weight)
		req.Reason, req.Source = cmp.Or(req.Reason, before.Reason), cmp.Or(req.Source, before.Source)
	}
	if req.Weight == nil {
		return answer{}, badRequest("weight is missing: it must be from 0 to %d", api.MaxWeight)
	}
	if *req.Weight < 0 || *req.Weight > api.MaxWeight {
		return answer{}, badRequest("weight is %d: it must be from 0 to %d", *req.Weight, api.MaxWeight)
	}
	o, err := s.newOrder(c, api.OrderWeight, t, orderRequest{req.Reason, req.Source, req.StartsAt, req.ExpiresIn}, true)
	if err != nil {
		return answer{}, err
	}
	o.Weight = *req.Weight
	if patches {
		keepWindow(&o, before, req.StartsAt == nil, req.ExpiresIn, s.o.Now())
	}
	if err := s.giveOrder(c, o); err != nil {
		return answer{}, err
	}
	return orderAnswer(c, o), nil
}

// deleteWeight answers DELETE on the weight of one backend.
func (s *Server) deleteWeight(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.clearOrder(c, api.OrderWeight, t, noWeight(t))
}

func noWeight(t target) *problem {
	return notFound("%s has its declared weight: none by an operator is in force or planned", t)
}
