package httpapi

import (
	"net/http"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/shared/api"
)

// putWeight answers PUT and PATCH of the weight of a backend. PATCH keeps the values of omitted fields.
func (s *Server) putWeight(c *call, req api.WeightRequest) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	set := &changes.SetAdminState{Kind: api.OrderWeight, Target: t, Patch: c.Request.Method == http.MethodPatch,
		Weight: req.Weight, Reason: req.Reason, Source: req.Source, StartsAt: req.StartsAt, ExpiresIn: req.ExpiresIn}
	if err := s.change(c, set); err != nil {
		return answer{}, err
	}
	return adminStateAnswer(c, set.State), nil
}

// deleteWeight answers DELETE of the weight of a backend.
func (s *Server) deleteWeight(c *call) (answer, error) {
	t, err := backendTarget(c)
	if err != nil {
		return answer{}, err
	}
	return noContent(), s.change(c, changes.EndAdminState{Kind: api.OrderWeight, Target: t})
}
