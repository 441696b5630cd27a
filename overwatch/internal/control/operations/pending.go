package operations

import (
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// pendingUndo returns the entries of a change that an undo still has to revert. entries and pending have the latest
// entry first. It returns an error if an object has changed since. It omits the objects that an earlier, incomplete
// undo has restored.
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
		if kind, _ := op.undoKindOf(list[0]); kind.check != nil {
			err = kind.check(list[0])
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
	now, err := op.presentObject(list[0])
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		if objects.EqualBut(now, op.canonical(e, e.After), changes.InForceField) {
			return list[i:], nil
		}
	}
	if !objects.EqualBut(now, op.canonical(list[0], list[len(list)-1].Before), changes.InForceField) {
		return nil, op.laterChangeError(list[0])
	}
	return nil, nil
}

// orderKindOf returns the kind of the order of an action, "" for other actions.
func orderKindOf(action string) string {
	switch action {
	case api.AuditOverride, api.AuditClearOverride:
		return string(api.OrderOverride)
	case api.AuditWeight, api.AuditClearWeight:
		return string(api.OrderWeight)
	case api.AuditDrain, api.AuditUndrain:
		return string(api.OrderDrain)
	case api.AuditFailback: // of a domain, which has changes of its settings too
		return failbackKind
	}
	return ""
}
