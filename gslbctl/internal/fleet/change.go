package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

// Change makes a change on one node. It returns a message about the result.
type Change = Request[string]

// PartlyUnknownError is the error of a change of several objects on a node that knows only some of the objects. If each
// node makes the change, this is not a failure, because another node can know the other objects.
type PartlyUnknownError struct{ Err error }

func (e *PartlyUnknownError) Error() string { return e.Err.Error() }

// Unwrap returns the node's error about an object that it does not know.
func (e *PartlyUnknownError) Unwrap() error { return e.Err }

// ChangeEach makes a change on every node and returns a result for each node. A missing object is an error only if all
// nodes lack it. If the only node rejects the change, there is no report. With PeerWait, ChangeEach then waits for the
// peers of the changed nodes.
func (f *Fleet) ChangeEach(ctx context.Context, apply Change) (Report, error) {
	clients, err := f.Clients()
	if err != nil {
		return nil, err
	}
	answers, err := AskAll(ctx, f, "changing %s", apply)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		if _, most := errors.AsType[*PartlyUnknownError](answers[i].Err); most {
			answers[i].Err = nil
		}
	}
	if len(answers) == 1 && answers[0].Err != nil {
		return nil, Unchanged(answers[0].Err)
	}
	report := make(Report, 0, len(answers))
	missing := 0
	var rejection error
	var changed []*api.Client
	for i, a := range answers {
		if a.Err == nil {
			report = append(report, applied(a.Node, a.Value))
			changed = append(changed, clients[i])
			continue
		}
		report = append(report, failed(a.Node, a.Err))
		if IsNotFound(a.Err) {
			missing++
		}
		if rejected, answered := errors.AsType[*api.Error](a.Err); answered {
			rejection = rejected
		}
	}
	done := report.count(Applied)
	switch {
	case done == 0 && report.count(Unknown) == 0:
		err = &Error{Degraded, NothingChanged, rejection}
	case done == 0:
		err = &Error{Degraded, "no node has confirmed the change: look before you repeat it", rejection}
	case done+missing < len(answers):
		err = &Error{Degraded, fmt.Sprintf("changed on %d of %s; repeat it for the others", done,
			render.Count(len(answers), "node", "nodes")), rejection}
	case f.PeerWait > 0:
		peers := f.awaitPeersOf(ctx, changed)
		return append(report, peers...), f.CheckReplicated(peers)
	}
	return report, err
}

// IsNotFound reports whether a node answered that an object does not exist.
func IsNotFound(err error) bool {
	rejected, ok := errors.AsType[*api.Error](err)
	return ok && rejected.Status == http.StatusNotFound
}
