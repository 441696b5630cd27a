package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// spreadTime bounds the wait until the other nodes have a change, and spreadPause is the pause between two looks.
	spreadTime  = 2 * time.Second
	spreadPause = 20 * time.Millisecond
)

// share makes a change that nodes carry to one another: on one node where replication there names all nodes of the
// context, else on every node, as change does.
func (a *app) share(ctx context.Context, apply request) error { return a.shareAll(ctx, apply, true) }

// shareAll does the same as share. With say unset it prints no results.
func (a *app) shareAll(ctx context.Context, apply request, say bool) error {
	clients, err := a.clients()
	if err != nil {
		return err
	}
	via := carrier(ctx, clients)
	if via == nil {
		return a.changeAll(ctx, apply, say)
	}
	others := slices.DeleteFunc(slices.Clone(clients), func(c *api.Client) bool { return c == via })
	return a.shareOn(ctx, via, others, apply, say)
}

// shareOn makes a change on the node via, which carries it to the others. If via breaks off, it tries the next of
// others: a change that is made twice does no harm. If that one refuses it, the error says that via may have made it.
func (a *app) shareOn(ctx context.Context, via *api.Client, others []*api.Client, apply request, say bool) error {
	var broke *api.Client
	stop := a.progress("changing " + via.Node())
	message, err := apply(ctx, via)
	for ; err != nil && len(others) > 0 && ctx.Err() == nil; message, err = apply(ctx, via) {
		if _, silent := errors.AsType[*api.UnreachableError](err); !silent {
			break
		}
		stop()
		fmt.Fprintf(a.Err, "gslbctl: %s: asking %s\n", render.Printable(err.Error()), others[0].Node())
		if !certain(err) {
			broke = via
		}
		via, others = others[0], others[1:]
		stop = a.progress("changing " + via.Node())
	}
	if err != nil {
		stop()
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusNotFound {
			return a.changeAll(ctx, apply, say) // another node may know the object, such as an agent that never reached this one
		}
		if broke != nil {
			_, sentence := explain(err)
			return &outcome{exitDegraded, fmt.Sprintf("%s; %s broke off before: it may have made the change, so look before "+
				"you repeat it", sentence, broke.Node()), err}
		}
		return unchanged(err)
	}
	report := append([]changed{{Node: via.Node(), Success: true, Message: message}}, awaitPeers(ctx, via)...)
	stop()
	if say {
		if err := a.print(report, func() string { return changesText(report) }); err != nil {
			return err
		}
	}
	return a.spreadOutcome(report)
}

// spreadOutcome returns an error if --all-nodes is given and a node in report has not confirmed the change.
func (a *app) spreadOutcome(report []changed) error {
	missing := 0
	for _, r := range report {
		if !r.Success {
			missing++
		}
	}
	if missing == 0 || !a.allNodes {
		return nil
	}
	return &outcome{code: exitDegraded, sentence: fmt.Sprintf("%d of %d nodes have not confirmed the change; they get "+
		"it by themselves", missing, len(report))}
}

// carrier returns the first answering node, if by replication it carries changes to all other nodes. It returns nil if
// the change must be made on each node.
func carrier(ctx context.Context, clients []*api.Client) (via *api.Client) {
	if len(clients) < 2 {
		return nil
	}
	var known api.Replication
	var ids []string
	for i, r := range everywhere(ctx, clients, just((*api.Client).Replication)) {
		_, silent := errors.AsType[*api.UnreachableError](r.err)
		switch {
		case silent:
			continue
		case r.err != nil || !r.answer.Enabled:
			return nil
		case via == nil:
			via, known = clients[i], r.answer
		}
		ids = append(ids, r.answer.NodeID)
	}
	if via == nil || len(clients) > len(known.Peers)+1 {
		return nil
	}
	for _, id := range ids {
		if id != known.NodeID &&
			!slices.ContainsFunc(known.Peers, func(p api.ReplicationPeer) bool { return p.NodeID == id }) {
			return nil
		}
	}
	return via
}

// awaitPeers returns, for each peer of via, whether it has a change. It waits for connected peers, up to spreadTime.
func awaitPeers(ctx context.Context, via *api.Client) (others []changed) {
	ctx, cancel := context.WithTimeout(ctx, spreadTime)
	defer cancel()
	var status api.Replication
	for ctx.Err() == nil {
		now, err := via.Replication(ctx)
		if err != nil {
			break
		}
		status = now
		if !slices.ContainsFunc(now.Peers, func(p api.ReplicationPeer) bool { return p.Connected && p.Behind > 0 }) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(spreadPause):
		}
	}
	for _, p := range status.Peers {
		line := changed{Node: p.NodeID, Success: p.Behind == 0, Message: "has it too"}
		if line.Node == "" {
			line.Node = p.Peer
		}
		switch {
		case p.Behind == 0:
		case p.Connected:
			line.Message = "has not confirmed it yet: it gets it by itself"
		default:
			line.Message = "is down: it gets it when it is back"
		}
		others = append(others, line)
	}
	return others
}
