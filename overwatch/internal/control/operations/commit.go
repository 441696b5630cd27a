package operations

import (
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/state/definitions"
)

// entry returns the description of a change for the audit log.
func (ch *Change) entry() changes.Entry {
	return changes.Entry{Action: ch.Action, Resource: ch.Resource, ID: ch.ID, Before: ch.Before, After: ch.After,
		Configured: ch.Configured}
}

// change returns the change of an object that an operator requests.
func (r *Request) change(object changes.Object, undoes uint64) changes.Change {
	return changes.Change{Actor: r.Actor, Object: object, IfSafe: r.IfSafe, Undoes: undoes, Force: r.Force,
		Precondition: r.Condition.Holds, Covers: r.Covers}
}

// Apply makes the change of an object. undoes is the id of the audit entry of the change that this change undoes, 0 if
// it undoes no change.
func (op *Operations) Apply(r *Request, object changes.Object, undoes uint64) error {
	result, err := op.o.Changes.Apply(r.Context, r.change(op.limited(r, object), undoes))
	r.Audited = r.Audited || result.Audited
	return err
}

// Define makes a change of definitions. edit validates the change against the draft and applies it to the draft, see
// changes.Definition. Define permits concurrent calls: the control plane orders changes of definitions.
func (op *Operations) Define(r *Request, ch *Change, edit func(*definitions.Draft) error) error {
	return op.commit(r, &changes.Definition{Entry: ch.entry, Edit: edit}, ch.Undoes)
}

// commit is Apply without the exclusion of other changes.
func (op *Operations) commit(r *Request, object changes.Object, undoes uint64) error {
	result, err := op.o.Changes.Commit(r.Context, r.change(op.limited(r, object), undoes))
	r.Audited = r.Audited || result.Audited
	return err
}

// Note writes the outcome of an action to the audit log, unless the action was rejected: the log of refused requests
// has rejections.
func (op *Operations) Note(r *Request, ch *Change, began time.Time, err error) {
	if fault.IsRejection(err) {
		return
	}
	op.Record(r, ch, began, err)
}

// Record writes the outcome of an action to the audit log.
func (op *Operations) Record(r *Request, ch *Change, began time.Time, err error) {
	r.Audited = true
	op.o.Changes.Record(r.change(nil, ch.Undoes), ch.entry(), began, err)
}
