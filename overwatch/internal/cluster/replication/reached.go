package replication

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gslb.internal/shared/api"
)

// Reached returns the peers that have the last change of this node's objects, and the peers that lack it. It waits at
// most wait for connected peers, and does not wait for other peers. It returns nil if replication is disabled.
func (r *Replication) Reached(ctx context.Context, wait time.Duration) *api.Reached {
	change := r.o.Store.Replicas().Changes
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		reached, waiting, heard := r.reached(change)
		if reached == nil || !waiting {
			return reached
		}
		select {
		case <-heard:
		case <-ctx.Done():
			return reached
		case <-r.ended:
			return reached
		}
	}
}

// reached returns the peers that have a change and the peers that lack it. waiting reports whether a connected peer
// lacks it. heard closes at the next news.
func (r *Replication) reached(change uint64) (reached *api.Reached, waiting bool, heard <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if settings := r.settings.Get(); settings.Off() != nil {
		return nil, false, nil
	}
	reached = &api.Reached{Has: []string{}, Lacks: []string{}}
	for _, p := range r.peers {
		v := r.pollers[p.node]
		switch {
		case p.self:
		case p.node != "" && v != nil && v.has >= change:
			reached.Has = append(reached.Has, p.node)
		default:
			reached.Lacks = append(reached.Lacks, cmp.Or(p.node, p.url))
			waiting = waiting || p.connected
		}
	}
	slices.Sort(reached.Has)
	slices.Sort(reached.Lacks)
	return reached, waiting, r.heard
}
