package operations

import (
	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/shared/api"
)

// undoAdminState undoes a change of an override, a weight or a drain.
func (op *Operations) undoAdminState(r *Request, e *api.AuditEntry, _ *Change) error {
	return op.Apply(r, changes.UndoAdminState{Of: e}, e.ID)
}

// Apply makes the change of an object. undoes is the id of the audit entry of the change that this change undoes; 0:
// none.
func (op *Operations) Apply(r *Request, object changes.Object, undoes uint64) error {
	result, err := op.o.Changes.Apply(r.Context, changes.Change{Actor: r.Actor, Object: object, IfSafe: r.IfSafe,
		Undoes: undoes, Force: r.Force, Precondition: r.Condition.Holds})
	r.Audited = r.Audited || result.Audited
	return err
}
