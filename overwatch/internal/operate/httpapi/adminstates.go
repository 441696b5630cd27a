package httpapi

import (
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// listAdminStates answers GET /overwatch/orders.
func (s *Server) listAdminStates(c *call) (answer, error) {
	matching := filtered(slices.Values(s.o.View.AdminStates()), func(o registry.AdminState) bool {
		return matches(c.query["kind"], o.Kind) && (!c.isLimited() || s.seesAdminState(c)(o))
	})
	list := api.OrderList{GeneratedAt: stamp(s.o.Now())}
	list.Orders, list.Total = pageOf(matching, c.page, func(o registry.AdminState) api.Order { return o.APIRecord() })
	return ok(list), nil
}

// change applies the change of an object for a request.
func (s *Server) change(c *call, object changes.Object) error {
	return s.op.Apply(c.request(), object, 0)
}

// adminStateView returns the API view of an admin state for the path of its kind. The ETag depends on this view.
func adminStateView(o registry.AdminState) any {
	if o.Kind == api.OrderOverride {
		return overrideRecord(o)
	}
	return o.APIRecord()
}

func adminStateAnswer(c *call, o registry.AdminState) answer {
	return tagged(c, http.StatusOK, adminStateView(o), adminStateView(o))
}
