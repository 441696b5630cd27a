package operations

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// pendingUndo returns the entries of a change that an undo still has to revert. entries and pending have the latest
// entry first. It refuses if an object has changed since. It omits the objects that an earlier, incomplete undo has
// restored.
func (op *Operations) pendingUndo(entries []api.AuditEntry) (pending []api.AuditEntry, err error) {
	byObject := map[string][]*api.AuditEntry{}
	for i := range entries {
		e := &entries[i]
		name := e.Resource + " " + orderKindOf(e.Action) + " " + e.ResourceID
		byObject[name] = append(byObject[name], e)
	}
	open := map[uint64]bool{}
	for _, list := range byObject {
		left := list
		if list[0].Action == api.AuditApply { // undoApply checks the objects
			_, _, err = op.planUndoApply(list[0])
		} else {
			left, err = op.notUndone(list)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range left {
			open[e.ID] = true
		}
	}
	for i := range entries {
		if open[entries[i].ID] {
			pending = append(pending, entries[i])
		}
	}
	return pending, nil
}

// notUndone returns the entries about an object that an undo still has to revert, the latest entry first.
func (op *Operations) notUndone(list []*api.AuditEntry) ([]*api.AuditEntry, error) {
	now, err := op.objectNow(list[0])
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		if objects.EqualBut(now, canonical(e, e.After), changes.InForceField) {
			return list[i:], nil
		}
	}
	if !objects.EqualBut(now, canonical(list[0], list[len(list)-1].Before), changes.InForceField) {
		return nil, op.laterChangeError(list[0])
	}
	return nil, nil
}

// orderKindOf returns the kind of the order that an action is about; empty: none.
func orderKindOf(action string) string {
	switch action {
	case api.AuditOverride, api.AuditClearOverride:
		return string(api.OrderOverride)
	case api.AuditWeight, api.AuditClearWeight:
		return string(api.OrderWeight)
	case api.AuditDrain, api.AuditUndrain:
		return string(api.OrderDrain)
	}
	return ""
}

// objectNow returns the present object of an audit entry in the form of the audit log, or null if it does not exist.
func (op *Operations) objectNow(e *api.AuditEntry) (json.RawMessage, error) {
	object, err := op.liveObject(e)
	if err != nil {
		return nil, err
	}
	return objects.Encode(object)
}

// canonical returns an object of an audit entry, which version 0.9.0 may have written, in its stored form of this
// version.
func canonical(e *api.AuditEntry, object json.RawMessage) json.RawMessage {
	if len(object) == 0 || string(object) == "null" || isAdminStateAction(e.Action) {
		return object
	}
	var now any
	var err error
	switch e.Resource {
	case "domain":
		now, err = model.Decode[model.Domain](object)
	case "server", "backend":
		if _, no := definitions.ParseTargetID(e.ResourceID); no == nil {
			now, err = definitions.DecodeTarget(e.ResourceID, object)
		} else {
			now, err = model.Decode[model.Server](object)
		}
	case "overlay":
		kind, _, _ := definitions.SplitOverlay(e.ResourceID)
		now, err = definitions.ParseOverlay(kind, object)
	default:
		return object
	}
	if err != nil {
		return object // which is equal to nothing
	}
	text, err := objects.Encode(now)
	if err != nil {
		return object
	}
	return text
}

func (op *Operations) liveObject(e *api.AuditEntry) (any, error) {
	if isAdminStateAction(e.Action) {
		return op.o.Changes.PresentAdminState(e)
	}
	set, _ := op.o.Definitions.Defined()
	switch e.Resource {
	case "domain":
		return set.Domains[e.ResourceID], nil
	case "region":
		return set.Regions[e.ResourceID], nil
	case "geo_mapping":
		network, err := objects.ParseNetwork(e.ResourceID)
		if err != nil {
			return nil, changes.CannotUndo(e, "it names no network")
		}
		if m := set.Mappings[network]; m != nil {
			return objects.MappingRecordOf(m), nil
		}
		return nil, nil
	case "overlay":
		kind, name, _ := definitions.SplitOverlay(e.ResourceID)
		return objects.WithoutSecrets(set.Overlay(kind, name)), nil
	}
	if id, err := definitions.ParseTargetID(e.ResourceID); err == nil {
		return objects.WithoutSecrets(set.Target(id)), nil
	}
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
