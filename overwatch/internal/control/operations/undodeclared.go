package operations

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// undoDeclared returns the undo of changes of a kind of declared objects.
func (op *Operations) undoDeclared(k definitions.Declared) undoKind {
	return undoKind{role: api.RoleAdmin,
		undo: func(r *Request, e *api.AuditEntry, ch *Change) error { return op.undoObject(r, k, e, ch) },
		present: func(e *api.AuditEntry) (any, error) {
			set, _ := op.o.Definitions.Defined()
			return objects.WithoutSecrets(k.Get(set, e.ResourceID)), nil
		},
		decode: func(_ *api.AuditEntry, object json.RawMessage) (any, error) { return k.Decode(object) }}
}

// undoObject deletes a created object, or restores an object. A region can be deleted if no object names it, and an
// object can be restored if its regions exist.
func (op *Operations) undoObject(r *Request, k definitions.Declared, e *api.AuditEntry, ch *Change) error {
	before, after, err := objectsOf(k, e)
	if err != nil {
		return err
	}
	// Apply excludes other changes, so that no server is added to a region during the undo.
	return op.Apply(r, &changes.Definition{Entry: ch.entry, Removes: disabledRegion(before, after),
		Edit: func(d *definitions.Draft) error {
			now := k.Get(d.Now(), e.ResourceID)
			if !objects.Equal(objects.WithoutSecrets(now), after) || d.InFile(k.Name(), e.ResourceID) {
				return changes.ErrChangedSince
			}
			if now != nil {
				ch.Before = now
			}
			if before != nil {
				if err := objects.CheckRegions(d, k.Regions(before), k.Regions(now)); err != nil {
					return err
				}
				back, err := withSecrets(e, before, now)
				if err != nil {
					return err
				}
				ch.After = back
				d.Put(back)
				return nil
			}
			if k.Name() == model.KindRegion {
				if err := op.checkUnusedRegion(r, d, e.ResourceID); err != nil {
					return err
				}
			}
			d.Delete(k.Name(), e.ResourceID)
			return nil
		}}, ch.Undoes)
}

// disabledRegion returns the backends that the undo of a region removes from answers, because it disables the region.
func disabledRegion(before, after model.Object) []impact.Withdrawal {
	was, isRegion := before.(*model.Region)
	now, isEnabled := after.(*model.Region)
	if isRegion && isEnabled && !was.Enabled && now.Enabled {
		return []impact.Withdrawal{impact.OfRegion(was.Name)}
	}
	return nil
}

// withSecrets returns an object of an audit entry with the secrets that the entry omits, from the current object. Only
// a region has secrets.
func withSecrets(e *api.AuditEntry, object, now model.Object) (model.Object, error) {
	region, isRegion := object.(*model.Region)
	if !isRegion {
		return object, nil
	}
	var known *model.HealthCheck
	if current, is := now.(*model.Region); is {
		known = current.HealthCheck
	}
	whole, err := region.HealthCheck.Restore(known)
	if err != nil {
		return nil, changes.CannotUndo(e, "the audit log omits the values of headers and send of its health check")
	}
	restored := *region
	restored.HealthCheck = whole
	return &restored, nil
}

// objectsOf returns the object of an audit entry before and after the change; nil if it did not exist. It returns an
// error if both are nil.
func objectsOf(k definitions.Declared, e *api.AuditEntry) (before, after model.Object, err error) {
	for _, state := range []struct {
		from json.RawMessage
		to   *model.Object
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) == 0 || string(state.from) == "null" {
			continue
		}
		if *state.to, err = k.Decode(state.from); err != nil {
			return nil, nil, changes.CannotUndo(e, "it does not have the whole object")
		}
	}
	if before == nil && after == nil {
		return nil, nil, changes.CannotUndo(e, "it changed nothing")
	}
	return before, after, nil
}
