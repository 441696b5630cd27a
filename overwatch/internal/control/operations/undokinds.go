package operations

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// undoKind is a kind of objects with changes that can be undone.
type undoKind struct {
	role api.Role // that an operator needs
	undo func(*Request, *api.AuditEntry, *Change) error
	// present returns the current object that an audit entry names, in the form of the audit log. It returns a nil value
	// if there is no object.
	present func(*api.AuditEntry) (any, error)
	// decode decodes an object of an audit entry, which version 0.9.0 may have written; nil: the text is canonical.
	decode func(e *api.AuditEntry, object json.RawMessage) (any, error)
	// check replaces present for changes of many objects. It rejects an undo if an object has changed since.
	check func(*api.AuditEntry) error
}

// Names of undo kinds that do not occur as resources in the audit log.
const (
	adminStateKind = "admin state"
	targetKind     = "target"
	failbackKind   = "failback"
)

// newUndoKinds returns the kinds of objects with changes that can be undone, by the resource in the audit log.
func (op *Operations) newUndoKinds() map[string]undoKind {
	server := undoKind{api.RoleAdmin, op.undoServer, op.presentServer, decodeAs[model.Server], nil}
	kinds := map[string]undoKind{
		adminStateKind: {api.RoleOperate, op.undoAdminState, op.o.Changes.PresentAdminState, nil, nil},
		failbackKind:   {api.RoleOperate, op.undoFailback, op.o.Changes.PresentFailback, nil, nil},
		"document": {role: api.RoleAdmin, undo: op.undoApply, check: func(e *api.AuditEntry) error {
			_, _, err := op.planUndoApply(e)
			return err
		}},
		serverResource:  server,
		backendResource: server,
		targetKind: {api.RoleAdmin, op.undoTarget, op.presentTarget,
			func(e *api.AuditEntry, object json.RawMessage) (any, error) {
				return definitions.DecodeTarget(e.ResourceID, object)
			}, nil},
		"overlay": {api.RoleAdmin, op.undoOverlay, op.presentOverlay,
			func(e *api.AuditEntry, object json.RawMessage) (any, error) {
				kind, _, _ := definitions.SplitOverlay(e.ResourceID)
				return definitions.ParseOverlay(kind, object)
			}, nil},
	}
	for _, k := range definitions.AllDeclared() {
		if k.Name() != store.KindAgent { // entries with this resource can be about pins
			kinds[k.Resource()] = op.undoDeclared(k)
		}
	}
	kinds[recordResource] = op.undoRecordChange() // an entry can have several records
	return kinds
}

func decodeAs[T any](_ *api.AuditEntry, object json.RawMessage) (any, error) {
	return model.Decode[T](object)
}

// undoKindOf returns the kind of the object that an audit entry names. It returns false if the change of the entry
// cannot be undone.
func (op *Operations) undoKindOf(e *api.AuditEntry) (kind undoKind, found bool) {
	name := e.Resource
	switch e.Action {
	case api.AuditOverride, api.AuditClearOverride, api.AuditWeight, api.AuditClearWeight, api.AuditDrain,
		api.AuditUndrain:
		name = adminStateKind
	case api.AuditFailback:
		name = failbackKind
	case api.AuditApply, api.AuditCreate, api.AuditUpdate, api.AuditDelete:
		if _, err := definitions.ParseTargetID(e.ResourceID); err == nil &&
			(name == serverResource || name == backendResource) {
			name = targetKind
		}
		if (name == "document") != (e.Action == api.AuditApply) {
			return kind, false
		}
	default:
		return kind, false
	}
	kind, found = op.undoKinds[name]
	return kind, found
}

// presentObject returns the current object of an audit entry in the form of the audit log, or null if it does not
// exist.
func (op *Operations) presentObject(e *api.AuditEntry) (json.RawMessage, error) {
	kind, found := op.undoKindOf(e)
	if !found || kind.present == nil {
		return nil, changes.CannotUndo(e, "its kind of change is unknown")
	}
	object, err := kind.present(e)
	if err != nil {
		return nil, err
	}
	return objects.Encode(object)
}

// canonical returns an object of an audit entry, which version 0.9.0 may have written, in its stored form of this
// version.
func (op *Operations) canonical(e *api.AuditEntry, object json.RawMessage) json.RawMessage {
	kind, _ := op.undoKindOf(e)
	if len(object) == 0 || string(object) == "null" || kind.decode == nil {
		return object
	}
	now, err := kind.decode(e, object)
	if err != nil {
		return object // which differs from every object
	}
	text, err := objects.Encode(now)
	if err != nil {
		return object
	}
	return text
}

func (op *Operations) presentOverlay(e *api.AuditEntry) (any, error) {
	kind, name, _ := definitions.SplitOverlay(e.ResourceID)
	set, _ := op.o.Definitions.Defined()
	return objects.WithoutSecrets(set.Overlay(kind, name)), nil
}

func (op *Operations) presentTarget(e *api.AuditEntry) (any, error) {
	id, err := definitions.ParseTargetID(e.ResourceID)
	if err != nil {
		return nil, err
	}
	set, _ := op.o.Definitions.Defined()
	return objects.WithoutSecrets(set.Target(id)), nil
}

func (op *Operations) presentServer(e *api.AuditEntry) (any, error) {
	id, err := registry.ParseID(e.ResourceID)
	if err != nil {
		return nil, changes.CannotUndo(e, "it names no server")
	}
	server, found := op.o.Inventory.Get(id)
	if !found {
		return nil, nil
	}
	return server.Shown(), nil
}
