// Package expiry forgets what operators have ordered for a time, once that is over, and writes it into the audit log.
// It owns a queue, which is as long as what has expired and is not on disk yet. The registry tells it and never waits;
// the root runs it.
package expiry

import (
	"context"
	"net/netip"
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

// Store forgets an override. ExpireOverride leaves another one that has replaced it.
type Store interface {
	ExpireOverride(service, address string, expiresAt time.Time, with ...store.Entry) error
}

// Ended is something that has ended because its time was over.
type Ended struct {
	Resource, ResourceID string                  // as the audit entry names it
	Before               any                     // what it was
	Forget               func(store.Entry) error // deletes it from the disk in one transaction with the entry
}

// Log takes what has ended and writes it.
type Log struct {
	store Store
	audit *audit.Log
	log   zerolog.Logger

	mu      sync.Mutex
	waiting []Ended
	wake    chan struct{} // holds one element while something waits
}

// New makes a Log.
func New(s Store, a *audit.Log, log zerolog.Logger) *Log {
	return &Log{store: s, audit: a, log: log, wake: make(chan struct{}, 1)}
}

// Override takes an override that has expired. Any goroutine may call it; it never waits.
func (l *Log) Override(o registry.Override) {
	address := o.Address.String()
	if o.Port != 0 {
		address = netip.AddrPortFrom(o.Address, o.Port).String()
	}
	ends := api.Moment(o.ExpiresAt).Truncate(time.Millisecond)
	l.Note(Ended{
		Resource: "override", ResourceID: o.Service + " " + address,
		Before: api.Override{Service: o.Service, Address: address, Healthy: o.Healthy, Reason: o.Reason, Source: o.Source,
			CreatedAt: o.CreatedAt, CreatedBy: o.CreatedBy, ExpiresAt: &ends},
		Forget: func(note store.Entry) error { return l.store.ExpireOverride(o.Service, address, o.ExpiresAt, note) },
	})
}

// Note takes what has ended. Any goroutine may call it; it never waits.
func (l *Log) Note(e Ended) {
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

// write writes what waits, in order, and keeps what the disk did not take.
func (l *Log) write() {
	l.mu.Lock()
	list := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for i, e := range list {
		note := l.audit.Entry(func() audit.Change {
			return audit.Change{Action: api.AuditExpire, Resource: e.Resource, ResourceID: e.ResourceID, Actor: audit.ActorNode,
				ActorType: api.ActorSystem, Before: e.Before}
		})
		if err := e.Forget(note); err != nil {
			l.log.Error().Err(err).Str("resource", e.Resource).Str("resource_id", e.ResourceID).Msg(
				"what has expired is not in the audit log yet")
			l.mu.Lock()
			l.waiting = append(list[i:], l.waiting...)
			l.mu.Unlock()
			return
		}
	}
}
