package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gslb.internal/gslbctl/internal/render"
	"gslb.internal/shared/api"
)

const (
	// replicationWait bounds the wait for peers without PeerWait. replicationPoll is the initial interval between
	// requests for the state of peers; it doubles up to maxReplicationPoll.
	replicationWait    = 2 * time.Second
	replicationPoll    = 20 * time.Millisecond
	maxReplicationPoll = 500 * time.Millisecond
)

// AwaitReplication returns the results of a change that the node via has made, with message for via and a result for
// each of its peers. It waits for connected peers, up to replicationWait; with PeerWait for all peers, up to PeerWait.
func (f *Fleet) AwaitReplication(ctx context.Context, via *api.Client, message string) Report {
	end := time.Now().Add(cmp.Or(f.PeerWait, replicationWait))
	return append(Report{applied(via.Node(), message)}, f.awaitUntil(ctx, via, end, nil)...)
}

// awaitUntil waits until end for the peers of a node, without the node ids in except, and returns their results.
func (f *Fleet) awaitUntil(ctx context.Context, via *api.Client, end time.Time, except []string) (report Report) {
	status, err := f.awaitPeers(ctx, via, end, except)
	if err != nil && f.PeerWait > 0 {
		_, reason := NodeReason("", err)
		return append(report, unknown("peers of "+via.Node(), "their state is unknown: "+reason))
	}
	for _, p := range status.Peers {
		node := peerName(p)
		switch {
		case slices.Contains(except, node):
		case p.Behind == 0:
			report = append(report, applied(node, "has the change"))
		case p.Connected:
			report = append(report, unknown(node, "has not confirmed the change: replication continues"))
		default:
			report = append(report, unknown(node, "is down: it receives the change when it is back"))
		}
	}
	return report
}

// awaitPeers waits until end for the peers of a node, without the node ids in except. It returns their last known
// state, or an error if the state is unknown. A node that does not know replication has no peers. With PeerWait, a
// request that began before end can outlast it by the time of a request, so that a short wait reads the state once.
func (f *Fleet) awaitPeers(ctx context.Context, via *api.Client, end time.Time, except []string) (
	status api.Replication, err error,
) {
	if f.PeerWait == 0 {
		limited, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		ctx = limited
	}
	ended := time.After(time.Until(end))
	shown, stop := "", func() {}
	defer func() { stop() }()
	known := false
	for pause := replicationPoll; ; pause = min(2*pause, maxReplicationPoll) {
		now, failed := via.Replication(ctx)
		switch {
		case failed == nil:
			status, known, err = now, true, nil
		case IsNotFound(failed):
			return api.Replication{}, nil
		case !known:
			err = failed
		}
		lacking := f.lacking(status, except)
		if failed == nil && len(lacking) == 0 || failed != nil && (f.PeerWait == 0 || !IsUnreachable(failed)) {
			return status, err
		}
		if text := waitingFor(lacking); text != shown {
			stop()
			shown, stop = text, f.Progress(text)
		}
		select {
		case <-ctx.Done():
			return status, err
		case <-ended:
			return status, err
		case <-time.After(pause):
		}
	}
}

// lacking returns the peers that lack objects and are worth waiting for: connected peers, with PeerWait all peers, in
// both cases without the node ids in except.
func (f *Fleet) lacking(status api.Replication, except []string) (names []string) {
	for _, p := range status.Peers {
		if p.Behind > 0 && (p.Connected || f.PeerWait > 0) && !slices.Contains(except, peerName(p)) {
			names = append(names, peerName(p))
		}
	}
	return names
}

func waitingFor(peers []string) string {
	if len(peers) == 0 {
		return "waiting for the state of the peers"
	}
	return "waiting for " + render.Count(len(peers), "peer", "peers") + ": " + strings.Join(peers, ", ")
}

// peerName returns the id of a peer, or its URL if the peer has never authenticated.
func peerName(p api.ReplicationPeer) string { return cmp.Or(p.NodeID, p.Peer) }

// AwaitPeersOf returns the results of a change that nodes have made, with message for each of the nodes and a result
// for each of their other peers. It waits for all peers, together up to PeerWait.
func (f *Fleet) AwaitPeersOf(ctx context.Context, nodes []*api.Client, message string) (report Report) {
	for _, c := range nodes {
		report = append(report, applied(c.Node(), message))
	}
	return append(report, f.awaitPeersOf(ctx, nodes)...)
}

// awaitPeersOf returns a result for each peer of nodes that have made a change, without these nodes. A peer lacks the
// change if it lacks the change of any of the nodes.
func (f *Fleet) awaitPeersOf(ctx context.Context, nodes []*api.Client) (report Report) {
	end := time.Now().Add(f.PeerWait)
	var changed []string
	for _, c := range nodes {
		if status, err := c.Replication(ctx); err == nil {
			changed = append(changed, status.NodeID)
		}
	}
	for _, c := range nodes {
		for _, result := range f.awaitUntil(ctx, c, end, changed) {
			at := slices.IndexFunc(report, func(r Result) bool { return r.Node == result.Node })
			switch {
			case at < 0:
				report = append(report, result)
			case report[at].Success:
				report[at] = result
			}
		}
	}
	return report
}

// CheckReplicated returns an error if a node in the report has not confirmed the change, and PeerWait or AllNodes is
// set.
func (f *Fleet) CheckReplicated(report Report) error {
	missing := len(report) - report.count(Applied)
	switch {
	case missing == 0 || f.PeerWait == 0 && !f.AllNodes:
		return nil
	case f.PeerWait == 0:
		return &Error{Code: Degraded, Message: fmt.Sprintf("%d of %d nodes have not confirmed the change; replication "+
			"continues", missing, len(report))}
	}
	var names []string
	for _, r := range report {
		if r.State != Applied {
			names = append(names, r.Node)
		}
	}
	return &Error{Code: NotReplicated, Message: fmt.Sprintf("not confirmed after %s: %s; replication continues",
		f.PeerWait, strings.Join(names, ", "))}
}
