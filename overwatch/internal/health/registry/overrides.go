package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gslb.internal/shared/wire"
)

// ErrNoOverride is wrapped by ClearOverride when there is nothing to clear.
var ErrNoOverride = errors.New("no such override")

// order is an override in force.
type order struct {
	Override
	// until is ExpiresAt by the monotonic clock, so that a jump of the wall clock ends no order and prolongs none.
	until time.Time
	timer deadlineAt
}

// SetOverride puts an operator's order in force, in the place of one for the same service, address and port. It wraps
// ErrUnknownBackend when no backend is meant by it. It stores nothing: who calls it does, and New is given what was
// stored.
func (r *Registry) SetOverride(ctx context.Context, o Override) error {
	if err := o.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if !o.ExpiresAt.IsZero() && !now.Before(o.ExpiresAt) {
			return fmt.Errorf("override of %s: its expiry, %s, has passed", o.target(), o.ExpiresAt.Format(time.RFC3339))
		}
		if len(w.meant(o)) == 0 {
			return fmt.Errorf("override of %s: %w", o.target(), ErrUnknownBackend)
		}
		w.obey(o, now)
		w.refreshMeant(o, now)
		return nil
	})
}

// ClearOverride ends an order. Port 0 names the order for all ports of the address, not each of them.
func (r *Registry) ClearOverride(ctx context.Context, service string, address netip.Addr, port uint16) error {
	o := Override{Service: service, Address: address, Port: port}
	if err := o.normalise(); err != nil {
		return err
	}
	return tell(ctx, r, func(w *writer, now time.Time) error {
		if !w.disobey(o, now) {
			return fmt.Errorf("override of %s: %w", o.target(), ErrNoOverride)
		}
		return nil
	})
}

// normalise brings service and address into their one form and checks them.
func (o *Override) normalise() error {
	id, err := NewID(o.Service, o.Address, max(o.Port, 1))
	if err != nil {
		return fmt.Errorf("override: %w", err)
	}
	o.Service, o.Address = id.Service, id.Address
	return nil
}

// target names what the override is about, for messages.
func (o *Override) target() string {
	if o.Port == 0 {
		return o.Service + ":" + o.Address.String()
	}
	return ID{o.Service, o.Address, o.Port}.String()
}

// means reports whether the override is about a backend.
func (o *Override) means(id ID) bool {
	return o.Service == id.Service && o.Address == id.Address && (o.Port == 0 || o.Port == id.Port)
}

// about reports whether both overrides are about the same.
func (o *Override) about(other *Override) bool {
	return o.Service == other.Service && o.Address == other.Address && o.Port == other.Port
}

// orderFor returns the order in force on a backend, nil for none: one for its port before one for all ports.
func (w *writer) orderFor(id ID, now time.Time) *order {
	var found *order
	for _, o := range w.overrides[id.Service] {
		if o.means(id) && !o.expired(now) && (found == nil || o.Port != 0) {
			found = o
		}
	}
	return found
}

func (o *order) expired(now time.Time) bool { return !o.until.IsZero() && !now.Before(o.until) }

// meant returns the records that an override is about.
func (w *writer) meant(o Override) []*record {
	s := w.services[wire.CanonicalService(o.Service)]
	if s == nil {
		return nil
	}
	var meant []*record
	for _, r := range s.records {
		if o.means(r.id) {
			meant = append(meant, r)
		}
	}
	return meant
}

func (w *writer) refreshMeant(o Override, now time.Time) {
	for _, r := range w.meant(o) {
		w.refresh(r, now)
	}
}

// obey puts o in force. The caller refreshes the records.
func (w *writer) obey(o Override, now time.Time) {
	w.overrides[o.Service] = slices.DeleteFunc(w.overrides[o.Service], func(other *order) bool { return other.about(&o) })
	inForce := &order{Override: o}
	w.overrides[o.Service] = append(w.overrides[o.Service], inForce)
	if !o.ExpiresAt.IsZero() {
		inForce.until = now.Add(o.ExpiresAt.Sub(now))
		w.wake(inForce, &inForce.timer, inForce.until)
	}
	w.publishOverrides()
}

// disobey ends the order that is about the same as o; it reports whether there was one.
func (w *writer) disobey(o Override, now time.Time) bool {
	before := w.overrides[o.Service]
	after := slices.DeleteFunc(slices.Clone(before), func(other *order) bool { return other.about(&o) })
	if len(after) == len(before) {
		return false
	}
	w.overrides[o.Service] = after
	if len(after) == 0 {
		delete(w.overrides, o.Service)
	}
	w.publishOverrides()
	w.refreshMeant(o, now)
	return true
}

// due implements timed: the order has expired.
func (o *order) due(w *writer, at deadlineAt, now time.Time) {
	if o.timer != at || !slices.Contains(w.overrides[o.Service], o) {
		return
	}
	o.timer = 0
	w.disobey(o.Override, now)
	w.options.Expired(o.Override)
}

func (w *writer) publishOverrides() {
	var list []Override
	for _, orders := range w.overrides {
		for _, o := range orders {
			list = append(list, o.Override)
		}
	}
	slices.SortFunc(list, func(a, b Override) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), a.Address.Compare(b.Address), cmp.Compare(a.Port, b.Port))
	})
	w.view.overrides.Store(&list)
}
