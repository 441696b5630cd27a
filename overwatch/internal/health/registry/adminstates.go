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

// ErrNoAdminState is wrapped by ClearOrder when there is nothing to clear.
var ErrNoAdminState = errors.New("no such order")

// ErrUnknownBackend is wrapped by commands about a backend that the registry does not have.
var ErrUnknownBackend = errors.New("no such backend")

// scheduledState is an order that is in force or waits for its beginning.
type scheduledState struct {
	AdminState
	// from and until are its beginning and its end by the monotonic clock, so that a jump of the wall clock moves neither;
	// until is zero for no end.
	from, until time.Time
	timer       deadlineAt
	drain       *status.Ramp // of an order to drain
}

// SetAdminState puts an admin state into force, at once or when it begins, in the place of the admin state of its kind
// and object. No backend needs to be known for it. An expired admin state ends the one that it would replace. SetOrder
// stores nothing: the caller has stored the admin state.
func (r *Registry) SetAdminState(ctx context.Context, o AdminState) error {
	if err := o.normalize(); err != nil {
		return err
	}
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
			w.removeAdminState(o, now)
		}
		w.restoreAdminState(o, now)
		w.refreshAffected(o, now)
		return nil
	})
}

// ClearAdminState ends an order, or takes back one that has not begun. Port 0 names the order for all ports of the
// address, not each of them.
func (r *Registry) ClearAdminState(ctx context.Context, kind api.OrderKind, service string, address netip.Addr,
	port uint16) error {
	o := AdminState{Kind: kind, Service: service, Address: address, Port: port}
	if err := o.normalize(); err != nil {
		return err
	}
	return runChange(ctx, r, func(w *writer, now time.Time) error {
		if !w.removeAdminState(o, now) {
			return fmt.Errorf("%s of %s: %w", o.Kind, o.subject(), ErrNoAdminState)
		}
		return nil
	})
}

// adminStateFor returns the order of a kind in force on a backend, nil for none: one for its port before one for all
// ports.
func (w *writer) adminStateFor(kind api.OrderKind, id ID, now time.Time) *scheduledState {
	if len(w.adminStates) == 0 {
		return nil // as on most nodes, and refreshing asks often
	}
	var found *scheduledState
	for _, o := range w.adminStates[id.Service] {
		if o.Kind == kind && o.IsActive && o.AppliesTo(id) && !o.expired(now) && (found == nil || o.Port != 0) {
			found = o
		}
	}
	return found
}

func (o *scheduledState) expired(now time.Time) bool {
	return !o.until.IsZero() && !now.Before(o.until)
}

// affectedRecords returns the records that an order applies to.
func (w *writer) affectedRecords(o AdminState) []*record {
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

func (w *writer) refreshAffected(o AdminState, now time.Time) {
	for _, r := range w.affectedRecords(o) {
		w.refreshBackend(r, now)
	}
}

// activateAdminState puts o in force, now or when it begins. The caller refreshes the records.
func (w *writer) activateAdminState(o AdminState, now time.Time) {
	before := w.replacedDrain(&o, now)
	w.adminStates[o.Service] = slices.DeleteFunc(w.adminStates[o.Service],
		func(other *scheduledState) bool { return other.HasSameObject(&o) })
	o.IsActive = !now.Before(o.StartsAt)
	taken := &scheduledState{AdminState: o, from: now.Add(o.startTime().Sub(now))}
	if o.IsActive && taken.from.After(now) {
		taken.from = now // made by a clock that is ahead
	}
	if !o.ExpiresAt.IsZero() {
		taken.until = now.Add(o.ExpiresAt.Sub(now))
	}
	if o.Kind == api.OrderDrain {
		drain := status.Drain(taken.from, o.Duration, o.Share)
		if o.IsActive {
			drain.ContinueFrom(before, now)
		}
		taken.drain = &drain
	}
	w.adminStates[o.Service] = append(w.adminStates[o.Service], taken)
	w.scheduleAdminState(taken)
	w.publishAdminStates()
}

// replacedDrain returns the drain in force that o takes the place of, nil for none.
func (w *writer) replacedDrain(o *AdminState, now time.Time) *status.Ramp {
	for _, other := range w.adminStates[o.Service] {
		if other.HasSameObject(o) && other.IsActive && !other.expired(now) {
			return other.drain
		}
	}
	return nil
}

// scheduleAdminState asks to be woken when o begins or ends.
func (w *writer) scheduleAdminState(o *scheduledState) {
	switch {
	case !o.IsActive:
		w.setDeadline(o, &o.timer, o.from)
	case !o.until.IsZero():
		w.setDeadline(o, &o.timer, o.until)
	}
}

// removeAdminState ends the order that o would replace, and reports whether there was one.
func (w *writer) removeAdminState(o AdminState, now time.Time) bool {
	before := w.adminStates[o.Service]
	after := slices.DeleteFunc(slices.Clone(before), func(other *scheduledState) bool { return other.HasSameObject(&o) })
	if len(after) == len(before) {
		return false
	}
	w.adminStates[o.Service] = after
	if len(after) == 0 {
		delete(w.adminStates, o.Service)
	}
	w.publishAdminStates()
	w.refreshAffected(o, now)
	return true
}

// handleDeadline implements timed: the order begins, or has expired.
func (o *scheduledState) handleDeadline(w *writer, at deadlineAt, now time.Time) {
	if o.timer != at || !slices.Contains(w.adminStates[o.Service], o) {
		return
	}
	o.timer = 0
	switch {
	case o.expired(now):
		w.removeAdminState(o.AdminState, now)
		w.options.AdminStateExpired(o.AdminState)
		return
	case !o.IsActive:
		o.IsActive = true
		w.options.AdminStateBegan(o.AdminState)
		w.publishAdminStates()
		w.refreshAffected(o.AdminState, now)
	}
	w.scheduleAdminState(o)
}

// restoreAdminState takes a stored order. It calls Began for one that has begun meanwhile, and Expired for one that has
// expired.
func (w *writer) restoreAdminState(o AdminState, now time.Time) {
	told := o.IsActive || o.StartsAt.IsZero()
	if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
		o.IsActive = told
		w.options.AdminStateExpired(o)
		return
	}
	w.activateAdminState(o, now)
	if !told && !now.Before(o.StartsAt) {
		o.IsActive = true
		w.options.AdminStateBegan(o)
	}
}

func (w *writer) publishAdminStates() {
	var list []AdminState
	for _, orders := range w.adminStates {
		for _, o := range orders {
			list = append(list, o.AdminState)
		}
	}
	slices.SortFunc(list, compareAdminStates)
	w.view.adminStates.Store(&list)
}
