package httpapi

import (
	"gslb.internal/shared/api"
)

// ifSafeParameter is the parameter of changes that can remove the last backends of a name.
func ifSafeParameter() Parameter {
	return flag("if_safe", "refuse with 409 if a name would be left with fewer backends than min_healthy, or with none")
}

// orderParameters are the parameters of changes that set an admin state.
func orderParameters() []Parameter {
	return []Parameter{ifSafeParameter(),
		flag("replace_planned", "replace a planned one of the same kind, which is refused with 409 otherwise")}
}

// postConsequences answers POST /routing/consequences.
func (s *Server) postConsequences(c *call, req api.ConsequenceRequest) (answer, error) {
	names, err := s.impact.Ask(c.Request.Context(), req, s.regionNames())
	return ok(api.ConsequenceList{Names: names, Total: len(names), GeneratedAt: stamp(s.o.Now())}), err
}
