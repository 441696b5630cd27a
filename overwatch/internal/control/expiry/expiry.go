// Package expiry writes audit entries for scheduled starts and expiries of admin states. It deletes an expired admin
// state from the store in the transaction of its audit entry. The registry calls Began and Expired, which add to the
// audit queue and return. The registry determines the times of admin states.
package expiry

import (
	"time"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/store"
	"gslb.internal/shared/api"
)

// Store marks an admin state as begun or deletes it, unless another admin state has replaced it.
type Store interface {
	BeginOrder(kind api.OrderKind, service, address string, startsAt time.Time, with ...store.Entry) error
	ExpireOrder(kind api.OrderKind, service, address string, expiresAt time.Time, with ...store.Entry) error
}

// Log passes events of admin states to the audit queue.
type Log struct {
	store Store
	queue *audit.Queue
}

// New returns a Log.
func New(s Store, queue *audit.Queue) *Log { return &Log{store: s, queue: queue} }

// Began queues the start of an admin state. It does not block. Any goroutine may call it.
func (l *Log) Began(o registry.AdminState) {
	resource, id := o.AuditObject()
	l.queue.AddOrLog(audit.QueuedEntry{
		Change: audit.Change{Action: api.AuditBegin, Resource: resource, ResourceID: id, After: o.APIRecord()},
		Store: func(entry store.Entry) error {
			return l.store.BeginOrder(o.Kind, o.Service, o.Endpoint(), o.StartsAt, entry)
		},
	})
}

// Expired queues the expiry of an admin state. It does not block, and any goroutine may call it. If the queue is full,
// the next start of the node deletes the admin state and writes the entry.
func (l *Log) Expired(o registry.AdminState) {
	resource, id := o.AuditObject()
	l.queue.AddOrLog(audit.QueuedEntry{
		Change: audit.Change{Action: api.AuditExpire, Resource: resource, ResourceID: id, Before: o.APIRecord()},
		Store: func(entry store.Entry) error {
			return l.store.ExpireOrder(o.Kind, o.Service, o.Endpoint(), o.ExpiresAt, entry)
		},
	})
}
