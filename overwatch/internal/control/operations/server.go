package operations

import (
	"context"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
)

// DefineTarget commits a change of a server by host name, and keeps its region from being deleted until that is done.
func (op *Operations) DefineTarget(r *Request, ch *Change, region string, edit func(*definitions.Draft) error) error {
	return op.Commit(r, ch, func(_ context.Context, note store.Entry) error {
		defer op.o.Changes.Shared()() // the region is not deleted meanwhile
		if err := op.RegionExists(region)(); err != nil {
			return err
		}
		return op.o.Definitions.Define(note, edit)
	})
}

// RemoveTarget commits a change that deletes a server by host name, and ends the weights and drains of its addresses.
func (op *Operations) RemoveTarget(r *Request, ch *Change, id definitions.TargetID,
	edit func(*definitions.Draft) error) error {
	defer op.o.Changes.Exclusive()()
	if err := op.CheckSafe(r, impact.OfTarget(id)); err != nil {
		return err
	}
	deleted := targetBackends(op.o.View, id)
	return op.Commit(r, ch, func(ctx context.Context, note store.Entry) error {
		if err := op.o.Definitions.Define(note, edit); err != nil {
			return err
		}
		return op.EndAdminStatesOf(ctx, deleted...)
	})
}

// targetBackends lists the ids of the backends that are addresses of a server by host name.
func targetBackends(view *registry.View, id definitions.TargetID) (ids []registry.ID) {
	for b := range impact.AddressesOf(view, id) {
		ids = append(ids, b.ID)
	}
	return ids
}

// DeleteServer deletes a server, with its weights and drains. resource is its name in the audit log.
func (op *Operations) DeleteServer(r *Request, resource string, id registry.ID) error {
	return op.Apply(r, changes.DeleteServer{ID: id, Resource: resource, Stays: op.stays}, 0)
}

// RegionExists returns a function that rejects a region that does not exist.
func (op *Operations) RegionExists(region string) func() error {
	return func() error { return objects.CheckRegion(op.o.Edit.Config(), region) }
}

// EndAdminStatesOf ends the weights and the drains of deleted servers. The caller has called Changes.Exclusive.
func (op *Operations) EndAdminStatesOf(ctx context.Context, deleted ...registry.ID) error {
	return op.o.Changes.EndAdminStatesOf(ctx, deleted, op.stays)
}

// stays reports whether something declares a backend or reports it. An address of a deleted host name may serve until
// its successors have a verdict, and does not stay.
func (op *Operations) stays(id registry.ID) bool {
	b := op.o.View.Get(id)
	if b == nil || !b.Host().FromAPI || b.AgentID != "" {
		return b != nil
	}
	set, _ := op.o.Definitions.Defined()
	return set.Target(definitions.TargetID{Service: id.Service, Name: b.Host().Name, Port: id.Port}) != nil
}
