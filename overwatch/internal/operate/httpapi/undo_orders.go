package httpapi

import (
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// orderOfEntry returns the order that an undo of an audit entry restores, or if there was none before, the one that it
// ends.
func orderOfEntry(e *api.AuditEntry, now time.Time) (o registry.Order, restores bool, err error) {
	before, after, err := states[api.Order](e)
	if err != nil {
		return o, false, err
	}
	about := before
	if about == nil {
		about = after
	}
	o, known := orderOf(*about, now)
	if !known {
		return o, false, cannotUndo(e, "an earlier version wrote it")
	}
	return o, before != nil, nil
}

// undoOrder restores the override, weight or drain of before the change, or clears it if there was none.
func (s *Server) undoOrder(c *call, e *api.AuditEntry, ch *change) error {
	o, restores, err := orderOfEntry(e, s.o.Now())
	if err != nil {
		return err
	}
	s.o.OrderLock.Lock()
	defer s.o.OrderLock.Unlock()
	now, found := s.findOrder(o.Kind, targetOf(o))
	if err := unchangedSince(e, recordOrNil(now, found), inForceField); err != nil {
		return err
	}
	if !restores {
		ch.action = endAction(o.Kind)
		return s.takeBack(c, ch, now)
	}
	ch.action = string(o.Kind)
	if !o.ExpiresAt.IsZero() && !s.o.Now().Before(o.ExpiresAt) {
		return cannotUndo(e, "what was before would have ended "+o.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if g, takes := taking(o); takes {
		done, err := s.safely(c, g)
		defer done()
		if err != nil {
			return err
		}
	}
	return s.putOrder(c, ch, o, now, found)
}

// orderOf converts the API's record of an order into the registry's form.
func orderOf(r api.Order, now time.Time) (o registry.Order, ok bool) {
	o = registry.Order{Kind: r.Kind, Service: r.Service, Reason: r.Reason, Source: r.Source, CreatedBy: r.CreatedBy,
		CreatedAt: r.CreatedAt}
	if address, err := netip.ParseAddr(r.Address); err == nil {
		o.Address = address
	} else if endpoint, err := netip.ParseAddrPort(r.Address); err == nil {
		o.Address, o.Port = endpoint.Addr(), endpoint.Port()
	} else {
		return o, false
	}
	if r.StartsAt != nil {
		o.StartsAt = *r.StartsAt
	}
	if r.ExpiresAt != nil {
		o.ExpiresAt = *r.ExpiresAt
	}
	o.Begun = !now.Before(o.StartsAt)
	switch {
	case r.Kind == api.OrderOverride && r.Healthy != nil:
		o.Healthy = *r.Healthy
	case r.Kind == api.OrderWeight && r.Weight != nil:
		o.Weight = *r.Weight
	case r.Kind == api.OrderDrain && r.Share != nil:
		over, err := time.ParseDuration(r.Duration)
		o.Share, o.Over = *r.Share, over
		return o, err == nil
	default:
		return o, false
	}
	return o, true
}
