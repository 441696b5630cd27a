package httpapi

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/control/document"
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
	view, err := s.op.ApplyDocument(c.request(), req)
	return ok(view), err
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
