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
	matching := filtered(slices.Values(s.o.View.Orders()), func(o registry.Order) bool {
		return matches(c.query["kind"], o.Kind)
	})
	list := api.OrderList{GeneratedAt: stamp(s.o.Now())}
	list.Orders, list.Total = pageOf(matching, c.page, func(o registry.Order) api.Order { return o.Record() })
	return ok(list), nil
}

// change makes the change of an object for a request.
func (s *Server) change(c *call, object changes.Object) error {
	return s.op.Apply(c.request(), object, 0)
}

// adminStateView shows an admin state as the path of its kind does. Its ETag is made from that.
func adminStateView(o registry.Order) any {
	if o.Kind == api.OrderOverride {
		return overrideRecord(o)
	}
	return o.Record()
}

func adminStateAnswer(c *call, o registry.Order) answer {
	return tagged(c, http.StatusOK, adminStateView(o), adminStateView(o))
}
