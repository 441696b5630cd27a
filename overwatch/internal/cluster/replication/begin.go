package replication

import (
	"context"
	"time"
)

const (
	// patienceWithState bounds the time for which a node with state of its own waits for its peers before it answers DNS.
	// patienceWithout is the bound for a node without state, or with that of an old backup.
	patienceWithState = 500 * time.Millisecond
	patienceWithout   = 2 * time.Second
)

// Catch returns when the peers' objects are in force here, so that the node may answer DNS, or after a bounded time. A
// node with state of its own does not wait for a peer that is down; one without waits until the peer is up, for 2 s at
// most.
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

// unasked returns the peers that have not been asked yet, and a channel that is closed at the next news. Without Run
// these are all. A joining node also counts peers that have failed.
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

// knock makes the peers that have failed be asked at once, since one of them has just asked this node.
func (r *Replication) knock() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p.connected || p.self {
			continue
		}
		select {
		case p.knocked <- struct{}{}:
		default:
		}
	}
}

// signalNews wakes the goroutines that wait for news of peers. The caller holds mu.
func (r *Replication) signalNews() {
	close(r.heard)
	r.heard = make(chan struct{})
}
