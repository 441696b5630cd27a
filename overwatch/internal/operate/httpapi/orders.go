package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/answer/explain"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/restore"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// orderRequest holds the fields that the requests for all kinds of orders share.
type orderRequest struct {
	reason, source string
	startsAt       *time.Time // nil: at once
	expiresIn      string     // from the start; "": no end
}

// listOrders answers GET /overwatch/orders.
func (s *Server) listOrders(c *call) (answer, error) {
	matching := filtered(slices.Values(s.o.View.Orders()), func(o registry.Order) bool {
		return matches(c.query["kind"], o.Kind)
	})
	list := api.OrderList{GeneratedAt: stamp(s.o.Now())}
	list.Orders, list.Total = pageOf(matching, c.page, func(o registry.Order) api.Order { return o.Record() })
	return ok(list), nil
}

// newOrder checks the shared fields of a request and returns an order with them; the caller sets the fields of its
// kind. reasoned: the request must have a reason.
func (s *Server) newOrder(c *call, kind api.OrderKind, t target, req orderRequest, reasoned bool) (registry.Order,
	error) {
	now := s.o.Now()
	o := registry.Order{
		Kind: kind, Service: t.service, Address: t.address, Port: t.port,
		Reason: req.reason, Source: sourceAPI, CreatedBy: c.actor, CreatedAt: stamp(now), Begun: true,
	}
	if reasoned || req.reason != "" {
		if err := objects.CheckText("reason", req.reason, api.MaxReason); err != nil {
			return o, err
		}
	}
	if req.source != "" {
		o.Source = req.source
		if err := objects.CheckText("source", req.source, api.MaxSource); err != nil {
			return o, err
		}
	}
	begins := now
	if req.startsAt != nil {
		begins = *req.startsAt
		if !begins.After(now) || begins.Sub(now) > api.MaxExpiresIn {
			return o, badRequest("starts_at is %s: it must be after now, %s, and at most %s away", stamp(begins).Format(
				time.RFC3339), now.UTC().Format(time.RFC3339), api.MaxExpiresIn)
		}
		o.StartsAt, o.Begun = stamp(begins), false
	}
	if req.expiresIn == "" {
		return o, nil
	}
	life, err := time.ParseDuration(req.expiresIn)
	if err != nil || life <= 0 || life > api.MaxExpiresIn {
		return o, badRequest("expires_in is %.64q: it must be a duration above zero and at most %s, such as 30m",
			req.expiresIn, api.MaxExpiresIn)
	}
	o.ExpiresAt = stamp(begins.Add(life))
	return o, nil
}

// keepWindow gives o the beginning and the end of the order before, unless the PATCH gives others. An end that it gives
// counts from the beginning that stays, or from now if that has passed.
func keepWindow(o *registry.Order, before registry.Order, start bool, expiresIn string, now time.Time) {
	if expiresIn == "" {
		o.ExpiresAt = before.ExpiresAt
	}
	if !start {
		return
	}
	o.StartsAt, o.Begun = before.StartsAt, before.Begun
	if life, err := time.ParseDuration(expiresIn); err == nil && !o.Begun {
		o.ExpiresAt = stamp(o.StartsAt.Add(life))
	}
}

// findOrder returns the order of a kind about exactly a target, in force or planned.
func (s *Server) findOrder(kind api.OrderKind, t target) (registry.Order, bool) {
	list := s.o.View.Orders()
	at := slices.IndexFunc(list, func(o registry.Order) bool {
		return o.Kind == kind && o.Service == t.service && o.Address == t.address && o.Port == t.port
	})
	if at < 0 {
		return registry.Order{}, false
	}
	return list[at], true
}

// targetOf returns the target of an order.
func targetOf(o registry.Order) target { return target{o.Service, o.Address, o.Port} }

// giveOrder replaces the order of the same kind and target by that of a request, if a backend is there and the order
// before fulfils the request's condition. A planned order does not replace one in force, which would end before its
// time. It does not replace a planned one by accident either, see losesPlanned. Options.OrderLock must be held.
func (s *Server) giveOrder(c *call, o registry.Order) error {
	t := targetOf(o)
	if !slices.ContainsFunc(s.o.View.Service(t.service), t.has) {
		return notFound("no backend of %s is known", t)
	}
	before, replaces := s.findOrder(o.Kind, t)
	var now any
	if replaces {
		now = orderView(before)
	}
	if err := c.condition.holds(now); err != nil {
		return err
	}
	if g, takes := taking(o); takes {
		done, err := s.safely(c, g)
		defer done()
		if err != nil {
			return err
		}
	}
	if replaces && before.Begun && !o.Begun {
		return problemf(http.StatusConflict, "%s of %s is in force: a planned one would end it now; clear it, or let "+
			"it expire, first", withArticle(o.Kind), t)
	}
	if replaces && s.losesPlanned(c, before, o) {
		return plannedProblem(before)
	}
	if !o.ExpiresAt.IsZero() && !o.ExpiresAt.After(o.StartsAt) {
		return badRequest("it would end %s, before it starts: give expires_in too", o.ExpiresAt.Format(time.RFC3339))
	}
	return s.putOrder(c, orderChange(string(o.Kind), o), o, before, replaces)
}

// losesPlanned reports whether a new order would silently replace a planned one. PATCH, If-Match and replace_planned
// are meant to replace it, and a request that is repeated plans the same again.
func (s *Server) losesPlanned(c *call, before, o registry.Order) bool {
	if before.Begun || c.Request.Method == http.MethodPatch || len(c.condition.match) > 0 ||
		c.query.flag("replace_planned") {
		return false
	}
	return !before.StartsAt.Equal(o.StartsAt) || !before.ExpiresAt.Equal(o.ExpiresAt) || before.Share != o.Share ||
		before.Over != o.Over || before.Weight != o.Weight || before.Healthy != o.Healthy
}

// plannedProblem returns the conflict error of an order that would replace a planned order. It names both remedies.
func plannedProblem(o registry.Order) error {
	window := "from " + o.StartsAt.UTC().Format(time.RFC3339)
	if !o.ExpiresAt.IsZero() {
		window += " until " + o.ExpiresAt.UTC().Format(time.RFC3339)
	}
	by := ""
	if o.CreatedBy != "" {
		by = " by " + o.CreatedBy
	}
	return problemf(http.StatusConflict, "%s of %s is planned%s %s, and a backend has one of a kind: take the planned "+
		"one back first, or replace it (replace_planned=true, gslbctl --replace-planned)", withArticle(o.Kind), targetOf(o),
		by, window)
}

// taking returns the backends that an order takes traffic from; takes is false if it takes none away.
func taking(o registry.Order) (g impact.Withdrawal, takes bool) {
	g = impact.Withdrawal{Service: o.Service, Takes: targetOf(o).has, Alter: explain.MarkDrained}
	switch o.Kind {
	case api.OrderOverride:
		g.Alter = impact.Forbid
		return g, !o.Healthy
	case api.OrderWeight:
		g.Answer = api.AnswerZeroWeight
		return g, o.Weight == 0
	}
	return g, o.Share == 0
}

// orderView shows an order as the path of its kind does. Its ETag is made from that.
func orderView(o registry.Order) any {
	if o.Kind == api.OrderOverride {
		return overrideRecord(o)
	}
	return o.Record()
}

func orderAnswer(c *call, o registry.Order) answer {
	return tagged(c, http.StatusOK, orderView(o), orderView(o))
}

// putOrder stores an order, puts it in force and waits for DNS. before is the one that it replaces, if there is one.
// Options.OrderLock must be held.
func (s *Server) putOrder(c *call, ch *change, o, before registry.Order, replaces bool) error {
	ch.before, ch.after = recordOrNil(before, replaces), o.Record()
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		if err := s.o.OrderStore.PutOrder(restore.Order(o), note); err != nil {
			return err
		}
		err := s.o.Orders.SetOrder(ctx, o)
		if errors.Is(err, registry.ErrUnknownBackend) { // it left meanwhile: the disk must not remember what was refused
			return errors.Join(err, s.restoreStored(o, before, replaces))
		}
		return err
	})
}

// clearOrder ends the order of a kind about a target, or takes back a planned one. Without one it returns none.
func (s *Server) clearOrder(c *call, kind api.OrderKind, t target, none error) error {
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	before, found := s.findOrder(kind, t)
	if !found {
		return none
	}
	if err := c.condition.holds(orderView(before)); err != nil {
		return err
	}
	return s.takeBack(c, orderChange(endAction(kind), before), before)
}

// takeBack deletes an order from the disk, then from the registry, then waits for DNS. Options.OrderLock must be held.
func (s *Server) takeBack(c *call, ch *change, o registry.Order) error {
	ch.before = o.Record()
	return s.commit(c, ch, func(ctx context.Context, note store.Entry) error { return s.forgetOrder(ctx, o, note) })
}

func (s *Server) forgetOrder(ctx context.Context, o registry.Order, with ...store.Entry) error {
	if err := s.o.OrderStore.DeleteOrder(o.Kind, o.Service, o.Endpoint(), with...); err != nil {
		return err
	}
	return s.o.Orders.ClearOrder(ctx, o.Kind, o.Service, o.Address, o.Port)
}

// restoreStored takes back the stored order o, which the registry has refused: it stores the order before, or none.
func (s *Server) restoreStored(o, before registry.Order, existed bool) error {
	if existed {
		return s.o.OrderStore.PutOrder(restore.Order(before))
	}
	return s.o.OrderStore.DeleteOrder(o.Kind, o.Service, o.Endpoint())
}

// forgetOrders ends the weights and the drains of servers that were deleted, so that later servers at their addresses
// do not inherit them. Options.OrderLock must be held.
func (s *Server) forgetOrders(ctx context.Context, deleted ...registry.ID) error {
	var failed []error
	gone := make(map[registry.ID]bool, len(deleted))
	for _, id := range deleted {
		gone[id] = true
	}
	for _, o := range s.o.View.Orders() {
		id := registry.ID{Service: o.Service, Address: o.Address, Port: o.Port}
		if o.Kind != api.OrderOverride && gone[id] && !s.stays(id) {
			failed = append(failed, s.forgetOrder(ctx, o))
		}
	}
	return errors.Join(failed...)
}

// stays reports whether something declares a backend or claims it. An address of a host name that was deleted may serve
// on until its successors have a verdict, and does not stay.
func (s *Server) stays(id registry.ID) bool {
	b := s.o.View.Get(id)
	if b == nil || !b.Part().Made || b.AgentID != "" {
		return b != nil
	}
	set, _ := s.o.Definitions.Defined()
	return set.Target(definitions.TargetID{Service: id.Service, Name: b.Part().Target, Port: id.Port}) != nil
}

// recordOrNil returns the record of an order for the audit log, nil for none.
func recordOrNil(o registry.Order, found bool) any {
	if !found {
		return nil
	}
	return o.Record()
}

// endAction returns the action with which an operator ends an order of a kind. What gives one has the kind's name.
func endAction(kind api.OrderKind) string {
	switch kind {
	case api.OrderOverride:
		return api.AuditClearOverride
	case api.OrderWeight:
		return api.AuditClearWeight
	}
	return api.AuditUndrain
}

// orderChange describes a change of an order.
func orderChange(action string, o registry.Order) *change {
	resource, id := o.Object()
	return &change{action: action, resource: resource, id: id}
}

func withArticle(kind api.OrderKind) string {
	if kind == api.OrderOverride {
		return "an override"
	}
	return "a " + string(kind)
}
