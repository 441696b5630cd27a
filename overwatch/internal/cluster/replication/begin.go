package replication

import (
	"context"
	"time"
)

const (
	// patienceWithState is the maximum waiting time for peers at the start of a node with operator state. patienceWithout
	// is the maximum for a node without operator state, or with an old backup. After the wait, the node answers DNS.
	patienceWithState = 500 * time.Millisecond
	patienceWithout   = 2 * time.Second
)

// Catch returns when the node has applied the objects of its peers, so that it may answer DNS, or after the maximum
// waiting time. A node with operator state does not wait for a peer that is down. A node without operator state waits
// at most 2 s for such a peer.
func (r *Replication) Catch(ctx context.Context) {
	settings := r.settings.Get()
	if settings.Off() != nil {
		return
	}
	joining := r.o.Store.Replicas().Joining
	patience := patienceWithState
	if joining {
		patience = patienceWithout
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	for {
		missing, heard := r.unasked(len(settings.Peers), joining)
		if len(missing) == 0 {
			return
		}
		select {
		case <-heard:
		case <-ctx.Done():
			r.o.Logger.Warn().Strs("peers", missing).Dur("waited_ms", time.Since(began)).
				Msg("DNS is answered without what these peers have, until they answer")
			return
		}
	}
}

// unasked returns the peers without a completed request, and a channel that closes at the next news. Before Run, it
// returns all peers. For a joining node, it also returns failed peers.
func (r *Replication) unasked(count int, joining bool) (missing []string, heard <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.peers) < count {
		return []string{"all"}, r.heard
	}
	for _, p := range r.peers {
		if !p.self && !p.connected && (joining || p.err == nil) {
			missing = append(missing, p.url)
		}
	}
	return missing, r.heard
}

// retryFailedPeers polls all failed peers immediately. The node calls it when a request of a peer shows that the peer
// is up again.
func (r *Replication) retryFailedPeers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.connected || p.self {
			continue
		}
		select {
		case p.retry <- struct{}{}:
		default:
		}
	}
}

// signalNews notifies the goroutines that wait for news about peers. The caller holds mu.
func (r *Replication) signalNews() {
	close(r.heard)
	r.heard = make(chan struct{})
}
