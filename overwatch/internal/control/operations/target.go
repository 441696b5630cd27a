package operations

import (
	"context"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// createTarget creates a server by host name. Its addresses serve after they are resolved and checked.
func (op *Operations) createTarget(r *Request, t *model.Server) error {
	id := definitions.TargetIDOf(t)
	ch := &Change{Action: api.AuditCreate, Resource: serverResource, ID: id.String(), After: t}
	return op.defineTarget(r, ch, t.Region, func(d *definitions.Draft) error {
		switch {
		case d.Now().Target(id) != nil:
			return fault.Invalidf("server %s exists already", id)
		case len(d.Now().Targets()) >= definitions.MaxTargets:
			return fault.Fullf("the API has created %d servers by host name, which is the most", definitions.MaxTargets)
		}
		if err := op.o.Edit.CheckNewTarget(d, id); err != nil {
			return err
		}
		return d.PutTarget(t)
	})
}

// changeTarget changes a server by host name of the API. edit can run twice: on the current server, for errors and the
// new region, and then on the server in the draft. covered returns the value to which the condition of the request
// applies.
func (op *Operations) changeTarget(r *Request, id definitions.TargetID, covered func(*model.Server) any,
	edit func(*model.Server) error) (after *model.Server, err error) {
	set, _ := op.o.Definitions.Defined()
	now := set.Target(id)
	if now == nil {
		return nil, objects.UnknownTarget(set, id)
	}
	changed := *now
	if err := edit(&changed); err != nil {
		return nil, err
	}
	ch := &Change{Action: api.AuditUpdate, Resource: serverResource, ID: id.String()}
	err = op.defineTarget(r, ch, changed.Region, func(d *definitions.Draft) error {
		before := d.Now().Target(id)
		if before == nil {
			return objects.UnknownTarget(d.Now(), id)
		}
		if err := r.Condition.Holds(covered(before)); err != nil {
			return err
		}
		next := *before
		if err := edit(&next); err != nil {
			return err
		}
		next.UpdatedAt = api.Stamp(op.o.Now())
		ch.Before, ch.After, after = before, &next, &next
		return d.PutTarget(&next)
	})
	return after, err
}

// deleteTarget deletes a server by host name.
func (op *Operations) deleteTarget(r *Request, id definitions.TargetID) error {
	ch := &Change{Action: api.AuditDelete, Resource: serverResource, ID: id.String()}
	return op.removeTarget(r, ch, id, func(d *definitions.Draft) error {
		before := d.Now().Target(id)
		if before == nil {
			return objects.UnknownTarget(d.Now(), id)
		}
		if err := r.Condition.Holds(before); err != nil {
			return err
		}
		ch.Before = before
		d.DeleteTarget(id)
		return nil
	})
}

// defineTarget makes a change that creates or changes a server by host name. It prevents the deletion of the server's
// region during the change.
func (op *Operations) defineTarget(r *Request, ch *Change, region string, edit func(*definitions.Draft) error) error {
	return op.Apply(r, &changes.Definition{Entry: ch.entry, Edit: edit, Check: op.regionExists(region), Adds: true},
		ch.Undoes)
}

// removeTarget makes a change that deletes a server by host name, and ends the weights and drains of its addresses.
func (op *Operations) removeTarget(r *Request, ch *Change, id definitions.TargetID,
	edit func(*definitions.Draft) error) error {
	var deleted []registry.ID
	return op.Apply(r, &changes.Definition{Entry: ch.entry, Edit: edit, Removes: []impact.Withdrawal{impact.OfTarget(id)},
		Check:   func() error { deleted = targetBackends(op.o.View, id); return nil },
		Publish: func(ctx context.Context) error { return op.EndAdminStatesOf(ctx, deleted...) }}, ch.Undoes)
}

// targetBackends returns the ids of the backends that are addresses of a server by host name.
func targetBackends(view *registry.View, id definitions.TargetID) (ids []registry.ID) {
	for b := range impact.AddressesOf(view, id) {
		ids = append(ids, b.ID)
	}
	return ids
}
