package registry

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"gslb.internal/overwatch/internal/health/status"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// ErrNoOrder is wrapped by ClearOrder when there is nothing to clear.
var ErrNoOrder = errors.New("no such order")

// ErrUnknownBackend is wrapped by commands about a backend that the registry does not have.
var ErrUnknownBackend = errors.New("no such backend")

// order is an order that is in force or waits for its beginning.
type order struct {
	Order
	// from and until are its beginning and its end by the monotonic clock, so that a jump of the wall clock moves neither;
	// until is zero for no end.
	from, until time.Time
	timer       deadlineAt
	drain       *status.Ramp // of an order to drain
}

// SetOrder puts an admin state into force, at once or when it begins, in the place of the admin state of its kind and
// object. No backend needs to be known for it. An expired admin state ends the one that it would replace. SetOrder
// stores nothing: the caller has stored the admin state.
func (r *Registry) SetOrder(ctx context.Context, o Order) error {
	if err := o.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
			w.endOrder(o, now)
		}
		w.restoreOrder(o, now)
		w.refreshAffected(o, now)
		return nil
	})
}

// ClearOrder ends an order, or takes back one that has not begun. Port 0 names the order for all ports of the address,
// not each of them.
func (r *Registry) ClearOrder(ctx context.Context, kind api.OrderKind, service string, address netip.Addr,
	port uint16) error {
	o := Order{Kind: kind, Service: service, Address: address, Port: port}
	if err := o.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if !w.endOrder(o, now) {
			return fmt.Errorf("%s of %s: %w", o.Kind, o.target(), ErrNoOrder)
		}
		return nil
	})
}

// orderFor returns the order of a kind in force on a backend, nil for none: one for its port before one for all ports.
func (w *writer) orderFor(kind api.OrderKind, id ID, now time.Time) *order {
	if len(w.orders) == 0 {
		return nil // as on most nodes, and refreshing asks often
	}
	var found *order
	for _, o := range w.orders[id.Service] {
		if o.Kind == kind && o.Begun && o.AppliesTo(id) && !o.expired(now) && (found == nil || o.Port != 0) {
			found = o
		}
	}
	return found
}

func (o *order) expired(now time.Time) bool { return !o.until.IsZero() && !now.Before(o.until) }

// affected returns the records that an order applies to.
func (w *writer) affected(o Order) []*record {
	s := w.services[wire.CanonicalService(o.Service)]
	if s == nil {
		return nil
	}
	var meant []*record
	for _, r := range s.records {
		if o.AppliesTo(r.id) {
			meant = append(meant, r)
		}
	}
	return meant
}

func (w *writer) refreshAffected(o Order, now time.Time) {
	for _, r := range w.affected(o) {
		w.refresh(r, now)
	}
}

// setOrder puts o in force, now or when it begins. The caller refreshes the records.
func (w *writer) setOrder(o Order, now time.Time) {
	before := w.drainBefore(&o, now)
	w.orders[o.Service] = slices.DeleteFunc(w.orders[o.Service], func(other *order) bool { return other.Replaces(&o) })
	o.Begun = !now.Before(o.StartsAt)
	taken := &order{Order: o, from: now.Add(o.since().Sub(now))}
	if o.Begun && taken.from.After(now) {
		taken.from = now // made by a clock that is ahead
	}
	if !o.ExpiresAt.IsZero() {
		taken.until = now.Add(o.ExpiresAt.Sub(now))
	}
	if o.Kind == api.OrderDrain {
		drain := status.Drain(taken.from, o.Over, o.Share)
		if o.Begun {
			drain.ContinueFrom(before, now)
		}
		taken.drain = &drain
	}
	w.orders[o.Service] = append(w.orders[o.Service], taken)
	w.await(taken)
	w.publishOrders()
}

// drainBefore returns the drain in force that o takes the place of, nil for none.
func (w *writer) drainBefore(o *Order, now time.Time) *status.Ramp {
	for _, other := range w.orders[o.Service] {
		if other.Replaces(o) && other.Begun && !other.expired(now) {
			return other.drain
		}
	}
	return nil
}

// await asks to be woken when o begins or ends.
func (w *writer) await(o *order) {
	switch {
	case !o.Begun:
		w.wake(o, &o.timer, o.from)
	case !o.until.IsZero():
		w.wake(o, &o.timer, o.until)
	}
}

// endOrder ends the order that o would replace, and reports whether there was one.
func (w *writer) endOrder(o Order, now time.Time) bool {
	before := w.orders[o.Service]
	after := slices.DeleteFunc(slices.Clone(before), func(other *order) bool { return other.Replaces(&o) })
	if len(after) == len(before) {
		return false
	}
	w.orders[o.Service] = after
	if len(after) == 0 {
		delete(w.orders, o.Service)
	}
	w.publishOrders()
	w.refreshAffected(o, now)
	return true
}

// due implements timed: the order begins, or has expired.
func (o *order) due(w *writer, at deadlineAt, now time.Time) {
	if o.timer != at || !slices.Contains(w.orders[o.Service], o) {
		return
	}
	o.timer = 0
	switch {
	case o.expired(now):
		w.endOrder(o.Order, now)
		w.options.Expired(o.Order)
		return
	case !o.Begun:
		o.Begun = true
		w.options.Began(o.Order)
		w.publishOrders()
		w.refreshAffected(o.Order, now)
	}
	w.await(o)
}

// restoreOrder takes a stored order. It calls Began for one that has begun meanwhile, and Expired for one that has
// expired.
func (w *writer) restoreOrder(o Order, now time.Time) {
	told := o.Begun || o.StartsAt.IsZero()
	if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
		o.Begun = told
		w.options.Expired(o)
		return
	}
	w.setOrder(o, now)
	if !told && !now.Before(o.StartsAt) {
		o.Begun = true
		w.options.Began(o)
	}
}

func (w *writer) publishOrders() {
	var list []Order
	for _, orders := range w.orders {
		for _, o := range orders {
			list = append(list, o.Order)
		}
	}
	slices.SortFunc(list, compareOrders)
	w.view.orders.Store(&list)
}
