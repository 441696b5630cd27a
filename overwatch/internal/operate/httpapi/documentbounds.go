package httpapi

import (
	"context"
	"net/http"
	"time"

	"gslb.internal/overwatch/internal/health/inventory"
	"gslb.internal/overwatch/internal/state/definitions"
)

const (
	// maxDocuments bounds the documents that are planned or applied at the same time. maxWaitingDocuments bounds the
	// waiting documents; each waits at most documentPatience.
	maxDocuments        = 2
	maxWaitingDocuments = 16
	documentPatience    = 5 * time.Second
	// retryDocument is the Retry-After of a document that did not get its turn, in seconds.
	retryDocument = "5"
	// maxDocumentSettings bounds the sections of a document. The number of existing sections is lower.
	maxDocumentSettings = 100
	// objectsPerLook is the number of objects after which a plan looks whether its client is still there.
	objectsPerLook = 256
)

// maxDocumentObjects returns the maximum number of objects in a document: the maximum number of objects in the API.
func maxDocumentObjects() int {
	total := 0
	for _, most := range documentBounds() {
		total += most
	}
	return total
}

// documentBounds returns the greatest length of each list of a document.
func documentBounds() map[string]int {
	return map[string]int{"regions": definitions.MaxRegions, "domains": definitions.MaxDomains,
		"servers": inventory.MaxServers + definitions.MaxTargets, "mappings": definitions.MaxMappings,
		"agents": definitions.MaxNodes, "settings": maxDocumentSettings}
}

// checkLengths refuses a list with more objects than the API can hold.
func (l *objectLists) checkLengths() error {
	most := documentBounds()
	for _, list := range []struct {
		name string
		have int
	}{{"regions", len(l.Regions)}, {"domains", len(l.Domains)}, {"servers", len(l.Servers)},
		{"mappings", len(l.Mappings)}, {"agents", len(l.Agents)}, {"settings", len(l.Settings)}} {
		if list.have > most[list.name] {
			return problemf(http.StatusRequestEntityTooLarge, "%s has %d objects: at most %d are allowed", list.name,
				list.have, most[list.name])
		}
	}
	return nil
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
