package changes

import (
	"encoding/json"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
)

// ErrChangedSince is the error of an undo if a later change affects the same object.
var ErrChangedSince error = fault.Conflictf("the object has changed since")

// CannotUndo returns the error for an audit entry that cannot be undone.
func CannotUndo(e *api.AuditEntry, why string) error {
	return fault.Conflictf("entry %d, %s of %s %s, cannot be undone: %s", e.ID, e.Action, e.Resource, e.ResourceID, why)
}

// States returns the object of an entry before and after the change; nil if it did not exist.
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

// UnchangedSince returns ErrChangedSince unless the object equals the object after the change of an entry. It ignores
// the fields in passing, which depend on the time.
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
