package httpapi

import (
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/shared/api"
)

// ifSafeParameter is the parameter of changes that may take a name's last backends.
func ifSafeParameter() Parameter {
	return flag("if_safe", "refuse with 409 if a name would be left with fewer backends than min_healthy, or with none")
}

// orderParameters are the parameters of changes that give an order.
func orderParameters() []Parameter {
	return []Parameter{ifSafeParameter(),
		flag("replace_planned", "replace a planned one of the same kind, which is refused with 409 otherwise")}
}

// postConsequences answers POST /routing/consequences.
func (s *Server) postConsequences(c *call, req api.ConsequenceRequest) (answer, error) {
	names, err := s.impact.Ask(c.Request.Context(), req, s.regionNames())
	return ok(api.ConsequenceList{Names: names, Total: len(names), GeneratedAt: stamp(s.o.Now())}), err
}

// safely refuses a change with if_safe that would leave a name with too few backends. Until done is called, other
// changes with if_safe wait, so that two do not take a name's last backends together. Without if_safe it does nothing.
// done is never nil.
func (s *Server) safely(c *call, g impact.Withdrawal) (done func(), err error) {
	if !c.query.flag("if_safe") {
		return func() {}, nil
	}
	return s.o.Changes.Exclusive(), s.impact.Check(c.Request.Context(), g)
}

// checkSafe is safely for a caller that has called Changes.Exclusive.
func (s *Server) checkSafe(c *call, g impact.Withdrawal) error {
	if !c.query.flag("if_safe") {
		return nil
	}
	return s.impact.Check(c.Request.Context(), g)
}
