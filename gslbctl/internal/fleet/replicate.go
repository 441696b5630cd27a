package fleet

import (
	"context"
	"fmt"
	"slices"

	"gslb.internal/shared/api"
)

// Change makes a change that nodes replicate. If one node replicates changes to all others, it makes the change on this
// node, or else on every node, as ChangeEach does.
func (f *Fleet) Change(ctx context.Context, apply Change) (Report, error) {
	clients, err := f.Clients()
	if err != nil {
		return nil, err
	}
	via := Replicator(ctx, clients)
	if via == nil {
		return f.ChangeEach(ctx, apply)
	}
	others := slices.DeleteFunc(slices.Clone(clients), func(c *api.Client) bool { return c == via })
	return f.ChangeVia(ctx, via, others, apply)
}

// ChangeVia makes a change on the node via, which replicates it, and waits for the peers as AwaitReplication does. If
// via is unreachable, ChangeVia tries the next node of others, because a repeated change is harmless. If that node
// rejects the change, the error reports that an earlier node may have made it. If the node does not know the object,
// ChangeVia makes the change on each node, because another node can know the object.
func (f *Fleet) ChangeVia(ctx context.Context, via *api.Client, others []*api.Client, apply Change) (Report, error) {
	var failed *api.Client
	stop := f.Progress("changing " + via.Node())
	message, err := apply(ctx, via)
	for ; err != nil && len(others) > 0 && ctx.Err() == nil; message, err = apply(ctx, via) {
		if !IsUnreachable(err) {
			break
		}
		stop()
		f.Warn(fmt.Sprintf("gslbctl: %s: asking %s", err, others[0].Node()))
		if !IsCertain(err) {
			failed = via
		}
		via, others = others[0], others[1:]
		stop = f.Progress("changing " + via.Node())
	}
	defer func() { stop() }()
	switch {
	case IsNotFound(err):
		stop()
		stop = func() {}
		return f.ChangeEach(ctx,
			apply) // another node can know the object, such as an agent that is unknown to this node
	case err != nil && failed != nil:
		_, sentence := Explain(err)
		return nil, &Error{Degraded, fmt.Sprintf("%s; %s broke off before: it may have made the change, so look "+
			"before you repeat it", sentence, failed.Node()), err}
	case err != nil:
		return nil, Unchanged(err)
	}
	stop()
	stop = func() {}
	report := f.AwaitReplication(ctx, via, message)
	return report, f.CheckReplicated(report)
}

// Replicator returns the first answering node if this node replicates changes to all other nodes. It returns nil if
// each node must make the change.
func Replicator(ctx context.Context, clients []*api.Client) (via *api.Client) {
	if len(clients) < 2 {
		return nil
	}
	var known api.Replication
	var ids []string
	for i, a := range AskClients(ctx, clients, Call((*api.Client).Replication)) {
		switch {
		case IsUnreachable(a.Err):
			continue
		case a.Err != nil || !a.Value.Enabled:
			return nil
		case via == nil:
			via, known = clients[i], a.Value
		}
		ids = append(ids, a.Value.NodeID)
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
