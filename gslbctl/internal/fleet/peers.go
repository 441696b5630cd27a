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
	report := Report{applied(via.Node(), message)}
	status, err := f.awaitPeers(ctx, via)
	if err != nil && f.PeerWait > 0 {
		_, reason := NodeReason("", err)
		return append(report, unknown("peers of "+via.Node(), "their state is unknown: "+reason))
	}
	for _, p := range status.Peers {
		node := peerName(p)
		switch {
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

// awaitPeers returns the last known state of the peers of a node, or an error if the state is unknown. A node that does
// not know replication has no peers.
func (f *Fleet) awaitPeers(ctx context.Context, via *api.Client) (status api.Replication, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.PeerWait, replicationWait))
	defer cancel()
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
		lacking := f.lacking(status)
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
		case <-time.After(pause):
		}
	}
}

// lacking returns the peers that lack objects and are worth waiting for: connected peers, with PeerWait all peers.
func (f *Fleet) lacking(status api.Replication) (names []string) {
	for _, p := range status.Peers {
		if p.Behind > 0 && (p.Connected || f.PeerWait > 0) {
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
	ctx, cancel := context.WithTimeout(ctx, f.PeerWait)
	defer cancel()
	var changed []string
	for _, c := range nodes {
		if status, err := c.Replication(ctx); err == nil {
			changed = append(changed, status.NodeID)
		}
	}
	for _, c := range nodes {
		for _, result := range f.AwaitReplication(ctx, c, "")[1:] {
			at := slices.IndexFunc(report, func(r Result) bool { return r.Node == result.Node })
			switch {
			case slices.Contains(changed, result.Node):
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
