package httpapi

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/control/document"
	"gslb.internal/shared/api"
)

func documentOperations() []Operation {
	document := api.Document{
		Domains: []api.DocumentDomain{{"owner": "shop", "name": "app.example.com", "ttl": 30,
			"routing_algorithm": "weighted", "regions": []string{"eu-west"}}},
		Servers: []api.DocumentServer{{"owner": "shop", "service": "app.example.com", "address": "192.0.2.1", "port": 80,
			"weight": 100, "region": "eu-west"}},
	}
	request := api.ApplyRequest{Document: document, Owner: "shop", Prune: true}
	plan := api.Plan{
		Changes: []api.PlanChange{{Action: api.PlanUpdate, Kind: "domain", ID: "app.example.com", Owner: "shop",
			Fields: []api.PlanField{{Name: "ttl", Before: "60", After: "30"}}}},
		Unchanged: 1, Force: []string{}, GeneratedAt: exampleTime(),
		Answers: api.PlanAnswers{Counted: 400, Total: 12_345, ElsewherePercent: 0,
			Moves: []api.PlanMove{}, Names: []api.PlanName{}, Losses: []api.Consequence{}, Unused: []string{}},
	}
	done := plan
	done.Applied = true
	return []Operation{
		{Method: get, Path: v1 + "/document", handle: (*Server).getDocument, Query: none,
			Summary: "Export the objects of the API as a document",
			Description: "Regions, domains, servers, mappings and announced agents that were created here, with " +
				"their " +
				"owners, and the settings of dns and health-check that differ from the configuration file, which " +
				"have none. " +
				"The document has no objects of the configuration file and no secrets.",
			Status: 200, Answer: document},
		{Method: post, Path: v1 + "/document/plan", handle: documentTurn(decoded((*Server).postPlan)),
			Role:    api.RoleOperate,
			Summary: "Plan a document",
			Description: "Returns the changes of objects, and the effect on answers, weighted with the answers of the last " +
				"hour. Nothing changes. " + documentLimits,
			Body: request, Required: []string{"document"}, MaxBody: api.MaxDocument, Status: 200, Answer: plan,
			Errors: []int{conflict, tooMany, noStore}},
		{Method: post, Path: v1 + "/document/apply", Changes: KindSeveral,
			handle:  documentTurn(decoded((*Server).postApply)),
			Summary: "Apply a document",
			Description: "Applies all changes together or none. With prune, objects of the owner that the document lacks are " +
				"deleted. The status is 409 without force if a name would have too few backends, or if more than 30 " +
				"percent of the objects of the owner would change. " + documentLimits,
			Body: request, Required: []string{"document"}, MaxBody: api.MaxDocument, Status: 200, Answer: done,
			Errors: []int{conflict, tooMany, noStore}},
	}
}

// documentLimits describes the common bounds of the operations on whole documents.
const documentLimits = "A node works on two documents at a time; others wait up to five seconds, then get 429 with " +
	"Retry-After. A list with more objects than a node can hold gets 413. An answer reports at most 1 000 problems. " +
	"When the client leaves, the work ends."

const (
	// maxDocuments is the maximum number of documents that are planned or applied concurrently. maxWaitingDocuments is the
	// maximum number of waiting documents. Each waits at most documentPatience.
	maxDocuments        = 2
	maxWaitingDocuments = 16
	documentPatience    = 5 * time.Second
	// retryDocument is the Retry-After, in seconds, of a document that the node rejects after documentPatience.
	retryDocument = "5"
)

// getDocument answers GET /document.
func (s *Server) getDocument(c *call) (answer, error) {
	doc, err := s.op.Planner(c.request()).Export()
	return ok(doc), err
}

// postPlan answers POST /document/plan.
func (s *Server) postPlan(c *call, req document.Request) (answer, error) {
	planner := s.op.Planner(c.request())
	wanted, err := planner.Read(c.Request.Context(), req)
	if err != nil {
		return answer{}, err
	}
	_, view, err := planner.Plan(c.Request.Context(), req, wanted)
	return ok(view), err
}

// postApply answers POST /document/apply.
func (s *Server) postApply(c *call, req document.Request) (answer, error) {
	view, err := s.op.ApplyDocument(c.request(), req)
	return ok(view), err
}

// turns bounds the concurrent holders and the waiting callers.
type turns struct {
	held    chan struct{} // one entry per holder
	waiting chan struct{} // one entry per holder and per waiting caller
}

func newTurns(holders, waiting int) turns {
	return turns{make(chan struct{}, holders), make(chan struct{}, holders+waiting)}
}

// waitForSlot waits for a free slot until patience or ctx ends. done releases the slot; it is nil without a slot.
func (t turns) waitForSlot(ctx context.Context, patience time.Duration) (done func(), err error) {
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

// documentTurn returns a handler that limits the concurrent calls of an operation on whole documents.
func documentTurn(h handler) handler {
	return func(s *Server, c *call) (answer, error) {
		done, err := s.documents.waitForSlot(c.Request.Context(), documentPatience)
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
