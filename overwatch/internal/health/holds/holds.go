// Package holds reacts to mass-failure holds. It writes the beginning and end of each hold to the audit log, and starts
// an own check of each held backend, so that the first failed check ends the hold of a backend that is down.
//
// The registry calls RecordChange and CheckBackend, which add to a queue and return. The root calls Run, which empties
// the queue. The package decides nothing about holds.
package holds

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Check checks each backend that wants accepts without delay and returns the results. validation.Validator.CheckNow
// implements it.
type Check func(ctx context.Context, wants func(registry.ID) bool) ([]registry.CheckResult, error)

// Worker has the queues of changes to write and of backends to check.
type Worker struct {
	audit func(audit.Change) error
	log   zerolog.Logger

	mu      sync.Mutex
	changes []registry.HoldChange // to write
	held    map[registry.ID]bool  // to check
	wake    chan struct{}         // has an element while a queue has one
}

// New returns a Worker that calls record for each change.
func New(record func(audit.Change) error, log zerolog.Logger) *Worker {
	return &Worker{audit: record, log: log, held: map[registry.ID]bool{}, wake: make(chan struct{}, 1)}
}

// RecordChange queues a change for the audit log. It does not block, and any goroutine may call it.
func (k *Worker) RecordChange(c registry.HoldChange) {
	k.update(func() { k.changes = append(k.changes, c) })
}

// CheckBackend queues a held backend for an own check. It does not block, and any goroutine may call it.
func (k *Worker) CheckBackend(id registry.ID) {
	k.update(func() { k.held[id] = true })
}

// update changes the queues and wakes Run.
func (k *Worker) update(change func()) {
	k.mu.Lock()
	change()
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// takeQueue empties the queues and returns their contents.
func (k *Worker) takeQueue() ([]registry.HoldChange, map[registry.ID]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changes, held := k.changes, k.held
	k.changes, k.held = nil, map[registry.ID]bool{}
	return changes, held
}

// Run writes changes and checks backends until ctx ends, and then writes the remaining changes. It returns nil.
func (k *Worker) Run(ctx context.Context, check Check) error {
	var checks sync.WaitGroup
	defer checks.Wait()
	for {
		select {
		case <-ctx.Done():
			changes, _ := k.takeQueue()
			k.writeChanges(changes)
			return nil
		case <-k.wake:
		}
		changes, held := k.takeQueue()
		if len(held) > 0 {
			checks.Go(func() {
				_, err := check(ctx, func(id registry.ID) bool { return held[id] })
				if err != nil && ctx.Err() == nil {
					k.log.Error().Err(err).Msg("mass-failure protection: own checks of held backends failed to start")
				}
			})
		}
		k.writeChanges(changes)
	}
}

// writeChanges writes changes to the audit log, except the end of a hold by an operator: the operator's request has its
// own entry.
func (k *Worker) writeChanges(changes []registry.HoldChange) {
	for _, c := range changes {
		entry := audit.Change{Action: api.AuditRelease, Resource: "brake", ResourceID: c.Subject(), Actor: audit.ActorNode,
			ActorType: api.ActorSystem, Before: auditValueOf(c)}
		switch {
		case c.Began:
			entry.Action, entry.Before, entry.After = api.AuditHold, nil, auditValueOf(c)
		case c.EndReason == "":
			continue
		}
		if err := k.audit(entry); err != nil {
			k.log.Error().Err(err).Str("subject", c.Subject()).Msg("audit log: writing a mass-failure hold failed")
		}
	}
}

// auditValue is a hold in the audit log.
type auditValue struct {
	api.Brake
	Reason string `json:"reason,omitempty"` // of its end
}

func auditValueOf(c registry.HoldChange) auditValue {
	v := auditValue{api.Brake{Service: c.Service, Agent: c.Agent, Region: c.Region, Concern: c.Kind.Concern(),
		Since: api.Moment(c.Since), Until: api.Moment(c.Until), Backends: []string{}}, c.EndReason}
	for _, id := range c.Backends {
		v.Backends = append(v.Backends, id.String())
	}
	return v
}
