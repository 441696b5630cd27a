package httpapi

import (
	"context"
	"net/http"
	"slices"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
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
	return s.applyUndo(c, object, 0)
}

// applyUndo is change for a change that undoes the change of an audit entry; 0 is none.
func (s *Server) applyUndo(c *call, object changes.Object, undoes uint64) error {
	patch := c.Request.Method == http.MethodPatch
	result, err := s.o.Changes.Apply(c.Request.Context(), changes.Change{
		Actor:  changes.Actor{Name: c.actor, IP: c.client.String(), RequestID: c.id, Group: c.change},
		Object: object, IfSafe: c.query.flag("if_safe"), Undoes: undoes,
		Force: patch || len(c.condition.match) > 0 || c.query.flag("replace_planned"),
		Precondition: func(now any) error {
			if o, is := now.(registry.Order); is {
				now = adminStateView(o)
			}
			return c.condition.holds(now)
		},
	})
	c.noted = c.noted || result.Audited
	return err
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

// endAdminStatesOf ends the weights and the drains of deleted servers. The caller has called Changes.Exclusive.
func (s *Server) endAdminStatesOf(ctx context.Context, deleted ...registry.ID) error {
	return s.o.Changes.EndAdminStatesOf(ctx, deleted, s.stays)
}

// stays reports whether something declares a backend or reports it. An address of a deleted host name may serve until
// its successors have a verdict, and does not stay.
func (s *Server) stays(id registry.ID) bool {
	b := s.o.View.Get(id)
	if b == nil || !b.Part().Made || b.AgentID != "" {
		return b != nil
	}
	set, _ := s.o.Definitions.Defined()
	return set.Target(definitions.TargetID{Service: id.Service, Name: b.Part().Target, Port: id.Port}) != nil
}
