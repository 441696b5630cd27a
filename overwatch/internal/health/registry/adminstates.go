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

// ErrNoAdminState is the error of ClearAdminState if the admin state does not exist.
var ErrNoAdminState = errors.New("no such admin state")

// ErrUnknownBackend is the error of commands for an unknown backend.
var ErrUnknownBackend = errors.New("no such backend")

// scheduledState is an active or scheduled admin state.
type scheduledState struct {
	AdminState
	// from and until are the start and end according to the monotonic clock, so that a step of the wall clock does not
	// change them. until is zero for an admin state without an end.
	from, until time.Time
	timer       deadlineAt
	drain       *status.Ramp // of a drain
}

// SetAdminState applies an admin state, immediately or at its start, and replaces the admin state of the same kind and
// object. The backend may be unknown. An expired admin state only ends the replaced admin state. The caller stores the
// admin state.
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

// ClearAdminState ends an active or scheduled admin state. Port 0 selects only the override for all ports of the
// address.
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

// adminStateFor returns the active admin state of a kind for a backend, or nil. An override for the port
// has precedence over an override for all ports.
func (w *writer) adminStateFor(kind api.OrderKind, id ID, now time.Time) *scheduledState {
	if len(w.adminStates) == 0 {
		return nil // fast path: most nodes have no admin states
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

// affectedRecords returns the records to which an admin state applies.
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

// activateAdminState applies o, immediately or at its start. The caller refreshes the records.
func (w *writer) activateAdminState(o AdminState, now time.Time) {
	before := w.replacedDrain(&o, now)
	w.adminStates[o.Service] = slices.DeleteFunc(w.adminStates[o.Service],
		func(other *scheduledState) bool { return other.HasSameObject(&o) })
	o.IsActive = !now.Before(o.StartsAt)
	next := &scheduledState{AdminState: o, from: now.Add(o.startTime().Sub(now))}
	if o.IsActive && next.from.After(now) {
		next.from = now // another node with a fast clock has set it
	}
	if !o.ExpiresAt.IsZero() {
		next.until = now.Add(o.ExpiresAt.Sub(now))
	}
	if o.Kind == api.OrderDrain {
		drain := status.Drain(next.from, o.Duration, o.Share)
		if o.IsActive {
			drain.ContinueFrom(before, now)
		}
		next.drain = &drain
	}
	w.adminStates[o.Service] = append(w.adminStates[o.Service], next)
	w.scheduleAdminState(next)
	w.publishAdminStates()
}

// replacedDrain returns the active drain that o replaces, or nil.
func (w *writer) replacedDrain(o *AdminState, now time.Time) *status.Ramp {
	for _, other := range w.adminStates[o.Service] {
		if other.HasSameObject(o) && other.IsActive && !other.expired(now) {
			return other.drain
		}
	}
	return nil
}

// scheduleAdminState sets the deadline for the start or the end of o.
func (w *writer) scheduleAdminState(o *scheduledState) {
	switch {
	case !o.IsActive:
		w.setDeadline(o, &o.timer, o.from)
	case !o.until.IsZero():
		w.setDeadline(o, &o.timer, o.until)
	}
}

// removeAdminState ends the admin state of the same kind and object as o, and reports whether it existed.
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

// handleDeadline implements deadlineHandler: the admin state begins or expires.
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

// restoreAdminState applies a stored admin state. If it has started since it was stored, restoreAdminState calls
// AdminStateBegan. If it has expired, restoreAdminState calls AdminStateExpired.
func (w *writer) restoreAdminState(o AdminState, now time.Time) {
	isRecorded := o.IsActive || o.StartsAt.IsZero()
	if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
		o.IsActive = isRecorded
		w.options.AdminStateExpired(o)
		return
	}
	w.activateAdminState(o, now)
	if !isRecorded && !now.Before(o.StartsAt) {
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
