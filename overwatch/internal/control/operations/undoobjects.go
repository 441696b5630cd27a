package operations

import (
	"errors"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// undoServer deletes a created server, restores a deleted server, or restores the settings of a server.
func (op *Operations) undoServer(r *Request, e *api.AuditEntry, _ *Change) error {
	before, after, err := statesOf[model.Server](e)
	if err != nil {
		return err
	}
	id, err := registry.ParseID(e.ResourceID)
	if err != nil {
		return changes.CannotUndo(e, "it names no server")
	}
	switch {
	case before == nil:
		return op.undoMadeServer(r, e, id, after)
	case after == nil:
		return op.undoRemovedServer(r, e, *before)
	}
	edit := &changes.EditServer{ID: id, Resource: e.Resource, Edit: func(server *model.Server) error {
		if err := sameObject(server.Shown(), after); err != nil {
			return err
		}
		back, err := op.completed(e, *before, server)
		*server = back
		return err
	}}
	if before.Region != "" {
		edit.InRegion = op.regionExists(before.Region)
	}
	err = op.Apply(r, edit, e.ID)
	if errors.Is(err, inventory.ErrUnknown) {
		return changes.ErrChangedSince
	}
	return err
}

func (op *Operations) undoMadeServer(r *Request, e *api.AuditEntry, id registry.ID, after *model.Server) error {
	err := op.Apply(r, changes.DeleteServer{ID: id, Resource: e.Resource, Stays: op.stays,
		May: func(now model.Server) error { return sameObject(now.Shown(), after) }}, e.ID)
	if errors.Is(err, inventory.ErrUnknown) {
		return changes.ErrChangedSince
	}
	return err
}

func (op *Operations) undoRemovedServer(r *Request, e *api.AuditEntry, before model.Server) error {
	cfg := op.o.Edit.Config()
	if _, found := op.o.Edit.FindDomain(cfg, before.Service); !found {
		return changes.CannotUndo(e, "there is no domain "+before.Service+" any more: undo its removal first")
	}
	before, err := op.completed(e, before, nil)
	if err != nil {
		return err
	}
	create := changes.CreateServer{Server: before, Resource: e.Resource}
	if before.Region != "" {
		create.InRegion = op.regionExists(before.Region)
	}
	err = op.Apply(r, create, e.ID)
	if errors.Is(err, inventory.ErrExists) {
		return changes.ErrChangedSince
	}
	return err
}

// completed returns a server of an audit entry with the secrets that the entry omits (model.Server.Shown): the secrets
// of now, the current server, or of the region. now can be nil.
func (op *Operations) completed(e *api.AuditEntry, server model.Server, now *model.Server) (model.Server, error) {
	others := []*model.HealthCheck{model.HealthCheckOf(op.o.Edit.Config().CheckIn(server.Region))}
	if now != nil {
		others = append([]*model.HealthCheck{now.HealthCheck}, others...)
	}
	whole, err := server.HealthCheck.Restore(others...)
	if err != nil {
		return server, changes.CannotUndo(e, "the audit log omits the values of headers and send of its health "+
			"check, and its region has other values now")
	}
	server.HealthCheck = whole
	return server, nil
}

// undoTarget undoes a change of a server by host name.
func (op *Operations) undoTarget(r *Request, e *api.AuditEntry, ch *Change) error {
	entry := *e
	entry.Before, entry.After = op.canonical(e, e.Before), op.canonical(e, e.After)
	before, after, err := statesOf[model.Server](&entry)
	if err != nil {
		return err
	}
	id, err := definitions.ParseTargetID(e.ResourceID)
	if err != nil {
		return changes.CannotUndo(e, "it names no server")
	}
	if before != nil {
		cfg := op.o.Edit.Config()
		if _, found := op.o.Edit.FindDomain(cfg, id.Service); !found {
			return changes.CannotUndo(e, "there is no domain "+id.Service+" any more: undo its removal first")
		}
		ch.After = before
	}
	back := func(d *definitions.Draft) error {
		now := d.Now().Target(id)
		switch {
		case (now == nil) != (after == nil):
			return changes.ErrChangedSince
		case now != nil:
			ch.Before = now
			if err := sameObject(now.Shown(), after); err != nil {
				return err
			}
		}
		if before == nil {
			d.DeleteTarget(id)
			return nil
		}
		back, err := op.completed(e, *before, now)
		if err != nil {
			return err
		}
		return d.PutTarget(&back)
	}
	if before != nil {
		return op.defineTarget(r, ch, before.Region, back)
	}
	return op.removeTarget(r, ch, id, back)
}
