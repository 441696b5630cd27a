package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"gslb.internal/overwatch/internal/control/changes"
	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/overwatch/internal/control/impact"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

const (
	// maxDocuments bounds the documents that are planned or applied at the same time. maxWaitingDocuments bounds the
	// waiting documents; each waits at most documentPatience.
	maxDocuments        = 2
	maxWaitingDocuments = 16
	documentPatience    = 5 * time.Second
	// retryDocument is the Retry-After of a document that has waited too long, in seconds.
	retryDocument = "5"
)

// AppliedStore stores the changes of applies, for their undo. A call returns when the change is on disk.
type AppliedStore interface {
	PutApplied(name string, state []byte) error
	// Applied returns a stored state, or nil if the state is missing.
	Applied(name string) ([]byte, error)
	DeleteApplied(name string) error
}

// getDocument answers GET /document.
func (s *Server) getDocument(*call) (answer, error) {
	doc, err := s.planner.Export()
	return ok(doc), err
}

// postPlan answers POST /document/plan.
func (s *Server) postPlan(c *call, req document.Request) (answer, error) {
	wanted, err := s.planner.Read(c.Request.Context(), req)
	if err != nil {
		return answer{}, err
	}
	_, view, err := s.planner.Plan(c.Request.Context(), req, wanted)
	return ok(view), err
}

// postApply answers POST /document/apply.
func (s *Server) postApply(c *call, req document.Request) (answer, error) {
	wanted, err := s.planner.Read(c.Request.Context(), req)
	if err != nil {
		return answer{}, err
	}
	defer s.o.Changes.Exclusive()()
	p, view, err := s.planner.Plan(c.Request.Context(), req, wanted)
	if err == nil && !req.Force {
		err = document.NeedsForce(&view)
	}
	if err == nil {
		err = c.Request.Context().Err() // the client has disconnected, and nothing has begun
	}
	if err != nil {
		return answer{}, err
	}
	if !p.IsEmpty() {
		ch := &change{action: api.AuditApply, resource: "document", id: req.Owner, after: p.Summary()}
		err = s.applyPlan(c, p, ch, nil)
	}
	view.Applied = err == nil
	return ok(view), err
}

// applyPlan makes the changes of a plan, and restores admin states of restored servers. It stores the previous objects
// for an undo. The caller has called Changes.Exclusive.
func (s *Server) applyPlan(c *call, p *document.Plan, ch *change, restored []api.Order) error {
	removed := p.Removed(s.o.View)
	name := appliedName(c.id, strconv.FormatUint(ch.undoes, 10))
	var states []api.Order
	for _, o := range s.o.Changes.AdminStatesOf(removed) {
		states = append(states, o.Record())
	}
	state, err := p.State(states)
	switch {
	case err != nil:
		return err
	case len(state) > store.MaxAppliedSize:
		s.log.Warn().Int("bytes", len(state)).Msg("an applied document is too large to be undone")
	default:
		if err := s.o.Applied.PutApplied(name, state); err != nil {
			return err
		}
	}
	err = s.commit(c, ch, func(ctx context.Context, note store.Entry) error {
		if err := s.planner.Store(ctx, p, note); err != nil {
			return err
		}
		return errors.Join(s.endAdminStatesOf(ctx, removed...), s.o.Changes.RestoreAdminStates(ctx, restored))
	})
	if err != nil && !c.noted { // rejected: nothing has changed
		err = errors.Join(err, s.o.Applied.DeleteApplied(name))
	}
	return err
}

// turns bounds the concurrent holders and the waiting callers.
type turns struct {
	held    chan struct{} // has an entry for each holder
	waiting chan struct{} // has an entry for each holder and each that waits
}

func newTurns(holders, waiting int) turns {
	return turns{make(chan struct{}, holders), make(chan struct{}, holders+waiting)}
}

// take waits for a turn until patience or ctx ends. done ends the turn; it is nil without a turn.
func (t turns) take(ctx context.Context, patience time.Duration) (done func(), err error) {
	select {
	case t.waiting <- struct{}{}:
	default:
		return nil, nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case t.held <- struct{}{}:
		return func() { <-t.held; <-t.waiting }, nil
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	<-t.waiting
	return nil, err
}

// documentTurn returns a handler that bounds the concurrent calls of an operation on whole documents.
func documentTurn(h handler) handler {
	return func(s *Server, c *call) (answer, error) {
		done, err := s.documents.take(c.Request.Context(), documentPatience)
		switch {
		case err != nil:
			return answer{}, err
		case done == nil:
			c.Header("Retry-After", retryDocument)
			return answer{}, problemf(http.StatusTooManyRequests,
				"the node plans or applies %d other documents: try again in %s seconds", maxDocuments, retryDocument)
		}
		defer done()
		return h(s, c)
	}
}

// appliedName returns the name of the state of an apply: the request's id, and for an undo the entry that it undoes.
func appliedName(requestID, undoes string) string {
	if undoes == "" || undoes == "0" {
		return requestID
	}
	return requestID + "-" + undoes
}

// planUndoApply returns the plan that undoes the apply of an audit entry, and the admin states to restore.
func (s *Server) planUndoApply(e *api.AuditEntry) (*document.Plan, []api.Order, error) {
	state, err := s.o.Applied.Applied(appliedName(e.RequestID, e.Details["undoes"]))
	if err != nil {
		return nil, nil, err
	}
	if state == nil {
		return nil, nil, changes.CannotUndo(e, fmt.Sprintf("what was before it is not kept: an earlier version made it, "+
			"it was too large, or it is older than the last %d applies", store.MaxApplied))
	}
	p, orders, err := s.planner.PlanUndo(state, e.ResourceID)
	if _, changed := errors.AsType[document.ErrChanged](err); changed {
		return nil, nil, changes.CannotUndo(e, err.Error())
	}
	if err != nil {
		err = fmt.Errorf("the state before apply %d: %w", e.ID, err)
	}
	return p, orders, err
}

// undoApply reverts the apply of a document.
func (s *Server) undoApply(c *call, e *api.AuditEntry, ch *change) error {
	defer s.o.Changes.Exclusive()()
	p, orders, err := s.planUndoApply(e)
	if err != nil {
		return err
	}
	if c.query.flag("if_safe") {
		effects, err := s.planner.Effects(c.Request.Context(), p)
		if err == nil {
			err = impact.Unsafe(effects.Losses)
		}
		if err != nil {
			return conflictOf(e, err)
		}
	}
	ch.after = p.Summary()
	return conflictOf(e, s.applyPlan(c, p, ch, orders))
}

// conflictOf converts the rejection of a restored object to the conflict error of an undo. It returns other errors
// unchanged.
func conflictOf(e *api.AuditEntry, err error) error {
	if p, known := problemOf(err); known && p.status == http.StatusBadRequest {
		return changes.CannotUndo(e, p.sentence)
	}
	return err
}
