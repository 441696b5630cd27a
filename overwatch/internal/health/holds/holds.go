// Package holds reacts to mass-failure holds. It writes the start and end of each hold to the audit log, and requests
// an own check of each backend in a hold. The first failed check ends the hold of a backend that is down.
//
// The registry calls RecordChange and CheckBackend, which add to a queue and return. The root calls Run, which starts
// the checks. The registry decides about holds.
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

// Worker has the queue of backends to check.
type Worker struct {
	record func(audit.Change)
	log    zerolog.Logger

	mu   sync.Mutex
	held map[registry.ID]bool // to check
	wake chan struct{}        // contains a token while backends are queued
}

// New returns a Worker that calls record for each change. record must not block; audit.Queue.AddChange implements it.
func New(record func(audit.Change), log zerolog.Logger) *Worker {
	return &Worker{record: record, log: log, held: map[registry.ID]bool{}, wake: make(chan struct{}, 1)}
}

// RecordChange writes a change to the audit log, except the end of a hold by an operator, because the operator's
// request has its own entry. It does not block. Any goroutine may call it.
func (k *Worker) RecordChange(c registry.HoldChange) {
	entry := audit.Change{Action: api.AuditRelease, Resource: "brake", ResourceID: c.Subject(), Actor: audit.ActorNode,
		ActorType: api.ActorSystem, Before: auditValueOf(c)}
	switch {
	case c.Began:
		entry.Action, entry.Before, entry.After = api.AuditHold, nil, auditValueOf(c)
	case c.EndReason == "":
		return
	}
	k.record(entry)
}

// CheckBackend queues a backend in a hold for an own check. It does not block. Any goroutine may call it.
func (k *Worker) CheckBackend(id registry.ID) {
	k.mu.Lock()
	k.held[id] = true
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// takeHeld empties the queue and returns its contents.
func (k *Worker) takeHeld() map[registry.ID]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	held := k.held
	k.held = map[registry.ID]bool{}
	return held
}

// Run checks backends until ctx ends. It returns nil.
func (k *Worker) Run(ctx context.Context, check Check) error {
	var checks sync.WaitGroup
	defer checks.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.wake:
		}
		held := k.takeHeld()
		checks.Go(func() {
			_, err := check(ctx, func(id registry.ID) bool { return held[id] })
			if err != nil && ctx.Err() == nil {
				k.log.Error().Err(err).Msg("mass-failure protection: own checks of held backends failed to start")
			}
		})
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
