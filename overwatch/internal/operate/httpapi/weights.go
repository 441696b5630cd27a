package httpapi

import "gslb.internal/shared/api"

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
	o.Weight = *req.Weight
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
	return noContent(), s.clearOrder(c, api.OrderWeight, t,
		notFound("%s has its declared weight: none by an operator is in force or planned", t))
}
