package control

import (
	"container/heap"
	"context"
	"time"

	"gslb.internal/overwatch/internal/leaf/shardmap"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/overwatch/internal/state/replica"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

const (
	// expiryCheck is the interval of checks of expiring records, so that a step of the clock takes effect.
	expiryCheck = time.Second
	// maxExpired is the maximum number of records that expire in one transaction.
	maxExpired = 1000
)

// expiring is a record with an end, an element of a heap.
type expiring struct {
	at  time.Time
	key string
}

// expiringRecords is a heap of records by their end.
type expiringRecords []expiring

func (e expiringRecords) Len() int           { return len(e) }
func (e expiringRecords) Less(i, j int) bool { return e[i].at.Before(e[j].at) }
func (e expiringRecords) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *expiringRecords) Push(one any) { *e = append(*e, one.(expiring)) }

// Pop implements heap.Interface.
func (e *expiringRecords) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// ExpireRecords removes each record of the API at its end, until ctx ends. It returns nil.
func (p *Plane) ExpireRecords(ctx context.Context) error {
	var known *config.Records
	var pending expiringRecords
	for {
		now := p.shown.Load().set.Records
		for key := range shardmap.Changes(known, now) {
			if r := now.Get(key); r != nil && !r.ExpiresAt.IsZero() {
				heap.Push(&pending, expiring{r.ExpiresAt, key})
			}
		}
		known = now
		wait := expiryCheck
		if len(pending) > 0 {
			wait = min(max(time.Until(pending[0].at), 0), expiryCheck)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-p.recordsChanged:
			timer.Stop()
			continue
		case <-timer.C:
		}
		var due []expiring
		for len(pending) > 0 && !pending[0].at.After(time.Now()) && len(due) < maxExpired {
			due = append(due, heap.Pop(&pending).(expiring))
		}
		if len(due) == 0 {
			continue
		}
		if err := p.expire(due); err != nil && ctx.Err() == nil {
			p.log.Error().Err(err).Int("records", len(due)).Msg("expired DNS records were not removed; the node tries again")
			for _, one := range due {
				heap.Push(&pending, expiring{time.Now().Add(expiryCheck), one.key})
			}
		}
	}
}

// expire removes the due records that have not been replaced by records with a later end.
func (p *Plane) expire(due []expiring) error {
	ctx, cancel := context.WithTimeout(p.o.Running, changeTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	draft, batch, notes := p.set.Edit(p.shown.Load().base, p.file, p.names), &store.Batch{}, []store.Entry{}
	for _, one := range due {
		r := p.set.Records.Get(one.key)
		if !isExpired(r) {
			continue
		}
		notes = append(notes, p.expireIn(draft, batch, r))
	}
	if len(notes) == 0 {
		return nil
	}
	batch.PutSerial(serialBound(p.o.Publisher.Serial()))
	next := draft.Set()
	_, kinds := p.set.Changes(next)
	_, err := p.activate(ctx, next, p.left.remaining(p.set, next), kinds, false, nil, func() error {
		return p.store.Write(batch, notes...)
	})
	return err
}

// expireIn removes an expired record from a draft, and adds its removal to a batch. It returns the audit entry.
func (p *Plane) expireIn(draft *definitions.Draft, batch *store.Batch, r *model.Record) store.Entry {
	draft.Delete(model.KindRecord, r.Key())
	batch.ExpireRecord(r.Key(), r.ExpiresAt)
	return p.o.Audit.EntryOf(audit.Change{Action: api.AuditExpire, Resource: store.ResourceOf(store.KindRecord),
		ResourceID: r.Set(), Before: r, Actor: audit.ActorNode, ActorType: api.ActorSystem})
}

// expireReceived removes the records of other nodes that have expired from a draft. It returns the batch that removes
// them from the store, and its audit entries.
func (p *Plane) expireReceived(draft *definitions.Draft, keys []replica.Key) (*store.Batch, []store.Entry) {
	batch, notes := &store.Batch{}, []store.Entry{}
	for _, key := range keys {
		if key.Kind != store.KindRecord {
			continue
		}
		if r := draft.Now().Records.Get(key.Name); isExpired(r) {
			notes = append(notes, p.expireIn(draft, batch, r))
		}
	}
	return batch, notes
}

// isExpired reports whether a record has expired; r may be nil.
func isExpired(r *model.Record) bool {
	return r != nil && !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(time.Now())
}

// dropExpired removes the records that expired while the node was stopped from a set and from the store.
func (s *State) dropExpired() error {
	draft, batch, count := s.set.Edit(nil, nil, nil), &store.Batch{}, 0
	for key, r := range s.set.Records.All() {
		if isExpired(r) {
			draft.Delete(model.KindRecord, key)
			batch.ExpireRecord(key, r.ExpiresAt)
			count++
		}
	}
	if count == 0 {
		return nil
	}
	s.log.Info().Int("records", count).Msg("DNS records expired while the node was stopped")
	s.set = draft.Set()
	return s.store.Write(batch)
}

// signalRecords wakes ExpireRecords. It does not block.
func (s *State) signalRecords() {
	select {
	case s.recordsChanged <- struct{}{}:
	default: // a signal waits already
	}
}
