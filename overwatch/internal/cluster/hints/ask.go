package hints

import (
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/health/status"
)

// askEvery is the time between two requests for votes about a failure.
const askEvery = 100 * time.Millisecond

// asking is a failure that waits for votes.
type asking struct {
	since time.Time // of RequestVotes
	seen  bool      // the registry has published the open dispute
}

// hasEnded reports whether the registry has decided or ended the dispute of b, which is nil for a removed backend. The
// registry calls RequestVotes before it publishes the dispute: an unpublished dispute ends after agree_within.
func (k asking) hasEnded(b *registry.Backend, agree status.Agreement, now time.Time) bool {
	switch age := now.Sub(k.since); {
	case k.seen, age >= agree.Within, !agree.IsOn():
		return true
	case b == nil || b.Dispute == nil:
		return false
	default:
		return age >= askEvery // a decided dispute; at first it can be the previous dispute
	}
}

// RequestVotes requests votes about a failure until the registry has decided it. It does not block. It ignores more
// than hintBurst failures at a time: this node then decides without votes.
func (e *Exchange) RequestVotes(id registry.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) >= hintBurst {
		e.metrics.dropped.Inc()
		return
	}
	e.asked[id] = asking{since: time.Now()}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// addOpen adds the failures that wait for votes to a queue. It reports whether there are any.
func (e *Exchange) addOpen(queue map[registry.ID]struct{}, agree status.Agreement, now time.Time) (isAsking bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, k := range e.asked {
		if b := e.o.Backend(id); b != nil && b.Dispute.IsOpen() {
			k.seen = true
			e.asked[id] = k
		} else if k.hasEnded(b, agree, now) {
			delete(e.asked, id)
			continue
		}
		queue[id] = struct{}{}
	}
	return len(e.asked) > 0
}
