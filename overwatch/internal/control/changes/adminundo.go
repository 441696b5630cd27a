package changes

import (
	"context"
	"net/netip"
	"time"

	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// InForceField is the time-dependent field of the record of an admin state.
const InForceField = "in_force"

// UndoAdminState is the Object that undoes a change of an admin state: it restores the previous admin state, or ends
// the current admin state if there was no previous admin state.
type UndoAdminState struct {
	Of *api.AuditEntry
}

// Plan implements Object.
func (u UndoAdminState) Plan(_ context.Context, t *Transaction) error {
	o, restores, err := PreviousAdminState(u.Of, t.now())
	if err != nil {
		return err
	}
	now, found := t.c.AdminState(o.Kind, TargetOf(o))
	if err := UnchangedSince(u.Of, recordOrNil(now, found), InForceField); err != nil {
		return err
	}
	if !restores {
		t.endAdminState(endAction(o.Kind), now)
		return nil
	}
	if hasEnded(o, t.now()) {
		return CannotUndo(u.Of, "the previous admin state would have ended "+o.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return t.replaceAdminState(string(o.Kind), o, now, found)
}

// PreviousAdminState returns the admin state that an undo of an audit entry sets. Without a previous admin state,
// restores is false, and o is the admin state that the undo ends.
func PreviousAdminState(e *api.AuditEntry, now time.Time) (o registry.AdminState, restores bool, err error) {
	before, after, err := States[api.Order](e)
	if err != nil {
		return o, false, err
	}
	about := before
	if about == nil {
		about = after
	}
	o, known := AdminStateOf(*about, now)
	if !known {
		return o, false, CannotUndo(e, "an earlier version wrote it")
	}
	return o, before != nil, nil
}

// PresentAdminState returns the current record of the admin state with the kind and object of an audit entry, or nil if
// there is none.
func (c *Changes) PresentAdminState(e *api.AuditEntry) (any, error) {
	o, _, err := PreviousAdminState(e, c.o.Now())
	if err != nil {
		return nil, err
	}
	now, found := c.AdminState(o.Kind, TargetOf(o))
	return recordOrNil(now, found), nil
}

// RemovedByUndo returns the backends that an undo of an audit entry removes from answers. removes is false if there are
// none.
func RemovedByUndo(e *api.AuditEntry, now time.Time) (w impact.Withdrawal, removes bool) {
	o, restores, err := PreviousAdminState(e, now)
	if err != nil || !restores {
		return w, false
	}
	return removedBy(o)
}

// AdminStateOf converts the API's record of an admin state into the registry's form.
func AdminStateOf(r api.Order, now time.Time) (o registry.AdminState, ok bool) {
	o = registry.AdminState{Kind: r.Kind, Service: r.Service, Reason: r.Reason, Source: r.Source, CreatedBy: r.CreatedBy,
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
	o.IsActive = !now.Before(o.StartsAt)
	switch {
	case r.Kind == api.OrderOverride && r.Healthy != nil:
		o.Healthy = *r.Healthy
	case r.Kind == api.OrderWeight && r.Weight != nil:
		o.Weight = *r.Weight
	case r.Kind == api.OrderDrain && r.Share != nil:
		over, err := time.ParseDuration(r.Duration)
		o.Share, o.Duration = *r.Share, over
		return o, err == nil
	default:
		return o, false
	}
	return o, true
}
