package operations

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// applyPlan makes the changes of a plan, and restores admin states of restored servers. It stores the previous objects
// for an undo. The caller has called Changes.Exclusive.
func (op *Operations) applyPlan(r *Request, p *document.Plan, ch *Change, restored []api.Order) error {
	removed := p.Removed(op.o.View)
	name := appliedName(r.Actor.RequestID, strconv.FormatUint(ch.Undoes, 10))
	var states []api.Order
	for _, o := range op.o.Changes.AdminStatesOf(removed) {
		states = append(states, o.APIRecord())
	}
	state, err := p.State(states)
	switch {
	case err != nil:
		return err
	case len(state) > store.MaxAppliedSize:
		op.o.Logger.Warn().Int("bytes", len(state)).Msg("an applied document is too large to be undone")
	default:
		if err := op.o.Applied.PutApplied(name, state); err != nil {
			return err
		}
	}
	err = op.Commit(r, ch, func(ctx context.Context, note store.Entry) error {
		if err := op.o.Planner.Store(ctx, p, note); err != nil {
			return err
		}
		return errors.Join(op.EndAdminStatesOf(ctx, removed...), op.o.Changes.RestoreAdminStates(ctx, restored))
	})
	if err != nil && !r.Audited { // rejected: nothing has changed
		err = errors.Join(err, op.o.Applied.DeleteApplied(name))
	}
	return err
}

// appliedName returns the name of the state of an apply: the request's id, and for an undo the entry that it undoes.
func appliedName(requestID, undoes string) string {
	if undoes == "" || undoes == "0" {
		return requestID
	}
	return requestID + "-" + undoes
}

// planUndoApply returns the plan that undoes the apply of an audit entry, and the admin states to restore.
func (op *Operations) planUndoApply(e *api.AuditEntry) (*document.Plan, []api.Order, error) {
	state, err := op.o.Applied.Applied(appliedName(e.RequestID, e.Details["undoes"]))
	if err != nil {
		return nil, nil, err
	}
	if state == nil {
		return nil, nil, changes.CannotUndo(e, fmt.Sprintf("what was before it is not kept: an earlier version made "+
			"it, "+
			"it was too large, or it is older than the last %d applies", store.MaxApplied))
	}
	p, orders, err := op.o.Planner.PlanUndo(state, e.ResourceID)
	if _, changed := errors.AsType[document.ErrChanged](err); changed {
		return nil, nil, changes.CannotUndo(e, err.Error())
	}
	if err != nil {
		err = fmt.Errorf("the state before apply %d: %w", e.ID, err)
	}
	return p, orders, err
}

// undoApply reverts the apply of a document.
func (op *Operations) undoApply(r *Request, e *api.AuditEntry, ch *Change) error {
	defer op.o.Changes.Exclusive()()
	p, orders, err := op.planUndoApply(e)
	if err != nil {
		return err
	}
	if r.IfSafe {
		effects, err := op.o.Planner.Effects(r.Context, p)
		if err == nil {
			err = impact.Unsafe(effects.Losses)
		}
		if err != nil {
			return conflictOf(e, err)
		}
	}
	ch.After = p.Summary()
	return conflictOf(e, op.applyPlan(r, p, ch, orders))
}

// conflictOf converts the rejection of a restored object to the conflict error of an undo. It returns other errors
// unchanged.
func conflictOf(e *api.AuditEntry, err error) error {
	if f, known := fault.Of(err); known && f.Kind == fault.Invalid {
		return changes.CannotUndo(e, f.Text)
	}
	return err
}

// ApplyDocument makes the API hold the objects of a document, all of them or nothing.
func (op *Operations) ApplyDocument(r *Request, req document.Request) (view api.Plan, err error) {
	wanted, err := op.o.Planner.Read(r.Context, req)
	if err != nil {
		return view, err
	}
	defer op.o.Changes.Exclusive()()
	p, view, err := op.o.Planner.Plan(r.Context, req, wanted)
	if err == nil && !req.Force {
		err = document.NeedsForce(&view)
	}
	if err == nil {
		err = r.Context.Err() // the client has disconnected, and nothing has begun
	}
	if err != nil {
		return view, err
	}
	if !p.IsEmpty() {
		ch := &Change{Action: api.AuditApply, Resource: "document", ID: req.Owner, After: p.Summary()}
		err = op.applyPlan(r, p, ch, nil)
	}
	view.Applied = err == nil
	return view, err
}
