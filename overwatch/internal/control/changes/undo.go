package changes

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// ErrChangedSince is the error of an undo whose object has changed again since.
var ErrChangedSince error = fault.Conflictf("a later change stands on it")

// CannotUndo returns the error of an undo of an audit entry that is not possible.
func CannotUndo(e *api.AuditEntry, why string) error {
	return fault.Conflictf("entry %d, %s of %s %s, cannot be undone: %s", e.ID, e.Action, e.Resource, e.ResourceID, why)
}

// States returns an entry's object before and after the change, nil where it did not exist.
func States[T any](e *api.AuditEntry) (before, after *T, err error) {
	for _, state := range []struct {
		from json.RawMessage
		to   **T
	}{{e.Before, &before}, {e.After, &after}} {
		if len(state.from) > 0 && json.Unmarshal(state.from, state.to) != nil {
			return nil, nil, CannotUndo(e, "it does not have the whole object")
		}
	}
	if before == nil && after == nil {
		return nil, nil, CannotUndo(e, "it changed nothing")
	}
	return before, after, nil
}

// UnchangedSince returns ErrChangedSince unless an object is as the change of an entry has left it. The fields in
// passing do not count: they change with time alone.
func UnchangedSince(e *api.AuditEntry, object any, passing ...string) error {
	now, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if !objects.EqualBut(now, e.After, passing...) {
		return ErrChangedSince
	}
	return nil
}
