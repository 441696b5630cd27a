package changes

import (
	"context"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

// EndAdminState is the Object that ends an active or planned override, weight or drain. It also ends the drain that a
// stopped agent has left; a drain that an agent requests continues.
type EndAdminState struct {
	Kind   api.OrderKind
	Target Target
}

// Plan implements Object.
func (e EndAdminState) Plan(ctx context.Context, t *Transaction) error {
	before, found := t.c.AdminState(e.Kind, e.Target)
	if !found && e.Kind == api.OrderDrain {
		return e.endParting(ctx, t)
	}
	if !found {
		return NoAdminState(e.Kind, e.Target)
	}
	if err := t.accepts(before); err != nil {
		return err
	}
	t.endAdminState(endAction(e.Kind), before)
	if e.Kind == api.OrderDrain {
		t.publish = append(t.publish, func(ctx context.Context) error {
			_, err := t.c.o.Registry.EndLeftDrain(ctx, e.id())
			return err
		})
	}
	return nil
}

// endAdminState adds the steps that end an admin state.
func (t *Transaction) endAdminState(action string, o registry.AdminState) {
	t.Entry.Action, t.Entry.Before = action, o.APIRecord()
	t.Entry.Resource, t.Entry.ID = o.AuditObject()
	t.EndAdminState(o)
}

// endParting ends the drain of an agent that has left. Plan ends it immediately, because the drain is not stored.
func (e EndAdminState) endParting(ctx context.Context, t *Transaction) error {
	b := t.c.o.View.Get(e.id())
	if b == nil {
		return fault.NotFoundf("no server %s is known", e.id())
	}
	drained := b.Draining
	ended, err := t.c.o.Registry.EndLeftDrain(ctx, e.id())
	switch {
	case err != nil:
		return err
	case ended:
		t.Entry = Entry{Action: api.AuditUndrain, Resource: "server", ID: e.id().String()}
	case !drained:
		return NoAdminState(e.Kind, e.Target)
	default:
		t.unchanged = true
	}
	return nil
}

func (e EndAdminState) id() registry.ID {
	return registry.ID{Service: e.Target.Service, Address: e.Target.Address, Port: e.Target.Port}
}

// NoAdminState returns the error for a target without an admin state of a kind.
func NoAdminState(kind api.OrderKind, t Target) error {
	switch kind {
	case api.OrderWeight:
		return fault.NotFoundf("%s has its declared weight: no weight by an operator is active or planned", t)
	case api.OrderDrain:
		id := registry.ID{Service: t.Service, Address: t.Address, Port: t.Port}
		return fault.NotFoundf("there is no active or planned drain of %s", id)
	}
	return fault.NotFoundf("there is no active or planned override of %s", t)
}

// endAction returns the audit action for the end of an admin state. The audit action for setting an admin state is the
// name of its kind.
func endAction(kind api.OrderKind) string {
	switch kind {
	case api.OrderOverride:
		return api.AuditClearOverride
	case api.OrderWeight:
		return api.AuditClearWeight
	}
	return api.AuditUndrain
}
