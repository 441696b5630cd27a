package replication

import (
	"errors"
	"fmt"
	"time"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/tokenbucket"
)

// Rate limits of the audit entries that a peer causes: the maximum burst, and the mean time between two entries.
// Entries about replaced changes of this node use the same store as other changes and have a lower rate.
const (
	auditBurst     = 1000
	receivedEvery  = 36 * time.Second
	overtakenEvery = 6 * time.Minute
	// failbackBurst and failbackEvery bound the entries about failbacks. Failures of backends cause these entries, which
	// must not use the rate of the changes of operators.
	failbackBurst = 100
	failbackEvery = 6 * time.Minute
	// countEvery is the interval of the entries with the number of unlogged changes.
	countEvery = time.Hour
)

// trail limits the audit entries that one peer causes. Replication.merging guards it.
type trail struct {
	received, overtaken, failbacks tokenbucket.Bucket

	left    int // number of changes without an entry since the last count
	counted time.Time
}

func newTrail() trail {
	return trail{
		received:  tokenbucket.New(tokenbucket.Limit{Interval: receivedEvery, Burst: auditBurst}),
		overtaken: tokenbucket.New(tokenbucket.Limit{Interval: overtakenEvery, Burst: auditBurst}),
		failbacks: tokenbucket.New(tokenbucket.Limit{Interval: failbackEvery, Burst: failbackBurst}),
	}
}

// entriesOf returns a function that creates the audit entries of received changes.
func (r *Replication) entriesOf(p *peer, node string) func(*replica.Merged) store.MergeEntries {
	return func(m *replica.Merged) (e store.MergeEntries) {
		now := time.Now()
		for _, c := range r.overtaken(m) {
			if p.trail.overtaken.Take(now) {
				e.Changes = append(e.Changes, r.o.Audit(c))
			}
		}
		hasRoom := func(kind string) bool {
			bucket := &p.trail.received
			if kind == store.KindFailback {
				bucket = &p.trail.failbacks
			}
			room := bucket.Take(now)
			if !room {
				p.trail.left++
			}
			return room
		}
		for _, c := range received(m, node, hasRoom) {
			e.Received = append(e.Received, r.o.Audit(c))
		}
		return e
	}
}

// received returns audit entries about the changes that a peer sent and for which hasRoom returns true.
func received(m *replica.Merged, peer string, hasRoom func(kind string) bool) (list []audit.Change) {
	rejected := make(map[replica.Key]error)
	for i := range m.Rejected {
		if m.Rejected[i].Stored {
			rejected[m.Rejected[i].Object.Key] = m.Rejected[i].Reason
		}
	}
	for i := range m.Taken {
		o := &m.Taken[i]
		if !hasRoom(o.Kind) {
			continue
		}
		c := audit.Change{Action: api.AuditReceive, Resource: store.ResourceOf(o.Kind), ResourceID: clipped(o.Name),
			Actor: clipped(o.Version.Node), ActorType: api.ActorSystem, Peer: peer, Err: rejected[o.Key]}
		if !o.Deleted {
			c.After = shown(o)
		}
		list = append(list, c)
	}
	for i := range m.Dropped {
		o := &m.Dropped[i]
		if !hasRoom(o.Kind) {
			continue
		}
		list = append(list, audit.Change{Action: api.AuditReceive, Resource: store.ResourceOf(o.Kind), ResourceID: o.Name,
			Actor: audit.ActorNode, ActorType: api.ActorSystem, Peer: peer, Before: shown(o)})
	}
	return list
}

// countLeft writes an audit entry with the number of changes without an entry, at most once per hour and peer.
func (r *Replication) countLeft(now time.Time) {
	r.merging.Lock()
	defer r.merging.Unlock()
	r.mu.Lock()
	peers := make([]*peer, 0, len(r.peers))
	nodes := make([]string, 0, len(r.peers))
	for _, p := range r.peers {
		peers, nodes = append(peers, p), append(nodes, p.node)
	}
	r.mu.Unlock()
	for i, p := range peers {
		if p.trail.left == 0 || now.Sub(p.trail.counted) < countEvery {
			continue
		}
		c := audit.Change{Action: api.AuditReceive, Resource: "replication", Actor: audit.ActorNode,
			ActorType: api.ActorSystem, Peer: nodes[i], Err: leftOut(p.trail.left)}
		if err := r.o.Store.Received().Append(r.o.Audit(c)); err != nil && !errors.Is(err, store.ErrNotDurable) {
			r.o.Logger.Error().Err(err).Msg("changes of a peer are not counted in the audit log")
		}
		p.trail.left, p.trail.counted = 0, now
	}
}

// leftOut is the number of changes without an audit entry.
type leftOut int

// Error returns the sentence in the audit log.
func (l leftOut) Error() string {
	return fmt.Sprintf("%d further changes of this peer have no entry here: the audit log of the node that made them has "+
		"them", int(l))
}
