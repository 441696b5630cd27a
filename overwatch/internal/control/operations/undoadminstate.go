package operations

import (
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/shared/api"
)

// undoFailback undoes the failback of regions.
func (op *Operations) undoFailback(r *Request, e *api.AuditEntry, _ *Change) error {
	return op.Apply(r, changes.UndoFailback{Of: e}, e.ID)
}

// undoAdminState undoes a change of an override, a weight or a drain.
func (op *Operations) undoAdminState(r *Request, e *api.AuditEntry, _ *Change) error {
	return op.Apply(r, changes.UndoAdminState{Of: e}, e.ID)
}
