// Package expiry writes into the audit log that an order of an operator has begun or expired. With the entry of an
// expiry it deletes the order from the disk. It owns the queue of entries that are not on disk yet. The registry calls
// Began and Expired, which never wait; the root runs it. It decides nothing about when an order begins or ends.
package expiry

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// retryEvery is the time between two attempts to write what the disk did not take.
const retryEvery = 10 * time.Second

// Store notes the beginning of an order, or forgets one. Both leave another one that has replaced it.
type Store interface {
	BeginOrder(kind api.OrderKind, service, address string, startsAt time.Time, with ...store.Entry) error
	ExpireOrder(kind api.OrderKind, service, address string, expiresAt time.Time, with ...store.Entry) error
}

// Event is an audit entry of something that began or ended because its time had come, and the change of the disk that
// goes with it.
type Event struct {
	Change audit.Change            // the audit entry, but for the actor
	Write  func(store.Entry) error // changes the disk in one transaction with the entry
}

// Log queues events, and writes them in their order.
type Log struct {
	store Store
	audit *audit.Log
	log   zerolog.Logger

	mu      sync.Mutex
	waiting []Event
	wake    chan struct{} // holds one element while something waits
}

// New makes a Log.
func New(s Store, a *audit.Log, log zerolog.Logger) *Log {
	return &Log{store: s, audit: a, log: log, wake: make(chan struct{}, 1)}
}

// Began takes an order that has begun. Any goroutine may call it; it never waits.
func (l *Log) Began(o registry.AdminState) {
	resource, id := o.AuditObject()
	l.Note(Event{audit.Change{Action: api.AuditBegin, Resource: resource, ResourceID: id, After: o.APIRecord()},
		func(note store.Entry) error {
			return l.store.BeginOrder(o.Kind, o.Service, o.Endpoint(), o.StartsAt, note)
		}})
}

// Expired takes an order that has expired. Any goroutine may call it; it never waits.
func (l *Log) Expired(o registry.AdminState) {
	resource, id := o.AuditObject()
	l.Note(Event{audit.Change{Action: api.AuditExpire, Resource: resource, ResourceID: id, Before: o.APIRecord()},
		func(note store.Entry) error {
			return l.store.ExpireOrder(o.Kind, o.Service, o.Endpoint(), o.ExpiresAt, note)
		}})
}

// Note queues an event. Any goroutine may call it; it never waits.
func (l *Log) Note(e Event) {
	l.mu.Lock()
	l.waiting = append(l.waiting, e)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run writes until ctx ends, and then what still waits. It returns nil.
func (l *Log) Run(ctx context.Context) error {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			l.write()
			return nil
		case <-l.wake:
		case <-again.C:
		}
		l.write()
	}
}

// write writes the waiting events in order. Those that the disk does not take wait on.
func (l *Log) write() {
	l.mu.Lock()
	list := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for i, e := range list {
		e.Change.Actor, e.Change.ActorType = audit.ActorNode, api.ActorSystem
		note := l.audit.Entry(func() audit.Change { return e.Change })
		if err := e.Write(note); err != nil {
			l.log.Error().Err(err).Str("resource", e.Change.Resource).Str("resource_id", e.Change.ResourceID).Msg(
				"what has begun or expired is not in the audit log yet")
			l.mu.Lock()
			l.waiting = append(list[i:], l.waiting...)
			l.mu.Unlock()
			return
		}
	}
}
