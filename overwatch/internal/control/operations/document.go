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
	"gslb.internal/shared/model"
)

// applyPlan adds the steps that make the changes of a plan, and that restore admin states of restored servers. It
// stores the previous objects for an undo.
func (op *Operations) applyPlan(r *Request, t *changes.Transaction, p *document.Plan, ch *Change,
	restored []api.Order) error {
	removed := p.Removed(op.o.View)
	name := appliedName(r.Actor.RequestID, strconv.FormatUint(ch.Undoes, 10))
	var states []api.Order
	for _, o := range op.o.Changes.AdminStatesOf(removed) {
		states = append(states, o.APIRecord())
	}
	state, err := p.State(states)
	if err != nil {
		return err
	}
	ch.After = p.Summary()
	t.Write(ch.entry, func(ctx context.Context, note store.Entry) error {
		if len(state) > store.MaxAppliedSize {
			op.o.Logger.Warn().Int("bytes", len(state)).Msg("an applied document is too large to be undone")
		} else if err := op.o.Applied.PutApplied(name, state); err != nil {
			return err
		}
		if err := op.o.Planner.Store(ctx, p, note); err != nil {
			return errors.Join(err, op.o.Applied.DeleteApplied(name))
		}
		return nil
	})
	t.Publish(func(ctx context.Context) error {
		return errors.Join(op.EndAdminStatesOf(ctx, removed...), op.o.Changes.RestoreAdminStates(ctx, restored))
	})
	return nil
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
		return nil, nil, changes.CannotUndo(e, fmt.Sprintf("its previous objects are not stored: an earlier version "+
			"made it, it was very large, or it is older than the last %d applies", store.MaxApplied))
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

// undoneDocument is the Object that reverts the apply of a document.
type undoneDocument struct {
	op *Operations
	r  *Request
	of *api.AuditEntry
	ch *Change
}

// Plan implements changes.Object.
func (u *undoneDocument) Plan(ctx context.Context, t *changes.Transaction) error {
	p, orders, err := u.op.planUndoApply(u.of)
	if err != nil {
		return err
	}
	if u.r.IfSafe {
		effects, err := u.op.o.Planner.Effects(ctx, p)
		if err == nil {
			err = impact.Unsafe(effects.Losses)
		}
		if err != nil {
			return err
		}
	}
	return u.op.applyPlan(u.r, t, p, u.ch, orders)
}

// undoApply reverts the apply of a document.
func (op *Operations) undoApply(r *Request, e *api.AuditEntry, ch *Change) error {
	return conflictOf(e, op.Apply(r, &undoneDocument{op, r, e, ch}, e.ID))
}

// conflictOf converts the rejection of a restored object to the conflict error of an undo. It returns other errors
// unchanged.
func conflictOf(e *api.AuditEntry, err error) error {
	if f, known := fault.Of(err); known && f.Kind == fault.Invalid {
		return changes.CannotUndo(e, f.Text)
	}
	return err
}

// appliedDocument is the Object that applies a document atomically.
type appliedDocument struct {
	op      *Operations
	r       *Request
	request document.Request
	wanted  *document.Objects
	view    api.Plan // the plan, which Plan has computed
}

// Plan implements changes.Object.
func (a *appliedDocument) Plan(ctx context.Context, t *changes.Transaction) error {
	p, view, err := a.op.Planner(a.r).Plan(ctx, a.request, a.wanted)
	a.view = view
	if err == nil && !a.request.Force {
		err = document.NeedsForce(&view)
	}
	if err == nil {
		err = ctx.Err() // the client has disconnected before the change
	}
	if err != nil {
		return err
	}
	if p.IsEmpty() {
		t.Unchanged()
		return nil
	}
	ch := &Change{Action: api.AuditApply, Resource: "document", ID: a.request.Owner}
	return a.op.applyPlan(a.r, t, p, ch, nil)
}

// Planner returns a Planner for the scope of a request.
func (op *Operations) Planner(r *Request) *document.Planner {
	if !r.isLimited() {
		return op.o.Planner
	}
	return op.o.Planner.Within(func(kind string, object any) bool { return r.Covers(model.ScopedOf(kind, object)) })
}

// ApplyDocument applies a document atomically.
func (op *Operations) ApplyDocument(r *Request, req document.Request) (view api.Plan, err error) {
	wanted, err := op.o.Planner.Read(r.Context, req)
	if err != nil {
		return view, err
	}
	a := &appliedDocument{op: op, r: r, request: req, wanted: wanted}
	err = op.Apply(r, a, 0)
	a.view.Applied = err == nil
	return a.view, err
}
