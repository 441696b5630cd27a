// Package brakes reacts to mass-failure protection: it writes begin and end of holds into the audit log, and has this
// node check at once the backends that are held, so that one that is really down is found by its first check. It
// owns a queue of what it still has to write and to check. The registry calls Note and Held, which never wait; the root
// runs it. It decides nothing about a brake.
package brakes

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
)

// Check checks at once every backend that wants accepts, and returns the verdicts, as validation.Validator.CheckNow
// does.
type Check func(ctx context.Context, wants func(registry.ID) bool) ([]registry.Verdict, error)

// Follower queues the changes of brakes and the backends that they hold. Run writes the former and checks the latter.
type Follower struct {
	audit func(audit.Change) error
	log   zerolog.Logger

	mu      sync.Mutex
	changes []registry.BrakeChange // not written yet
	held    map[registry.ID]bool   // not checked yet
	wake    chan struct{}          // holds one element while something waits
}

// New makes a Follower that writes with record.
func New(record func(audit.Change) error, log zerolog.Logger) *Follower {
	return &Follower{audit: record, log: log, held: map[registry.ID]bool{}, wake: make(chan struct{}, 1)}
}

// Note takes a change, to be written. Any goroutine may call it; it never waits.
func (f *Follower) Note(c registry.BrakeChange) {
	f.add(func() { f.changes = append(f.changes, c) })
}

// Held takes a backend that is held from now on, to be checked. Any goroutine may call it; it never waits.
func (f *Follower) Held(id registry.ID) {
	f.add(func() { f.held[id] = true })
}

func (f *Follower) add(what func()) {
	f.mu.Lock()
	what()
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// take empties the queue and returns what it held.
func (f *Follower) take() ([]registry.BrakeChange, map[registry.ID]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	changes, held := f.changes, f.held
	f.changes, f.held = nil, map[registry.ID]bool{}
	return changes, held
}

// Run writes and checks until ctx ends, and then writes what still waits. It returns nil.
func (f *Follower) Run(ctx context.Context, check Check) error {
	var checks sync.WaitGroup
	defer checks.Wait()
	for {
		select {
		case <-ctx.Done():
			changes, _ := f.take()
			f.write(changes)
			return nil
		case <-f.wake:
		}
		changes, held := f.take()
		if len(held) > 0 {
			checks.Go(func() {
				_, err := check(ctx, func(id registry.ID) bool { return held[id] })
				if err != nil && ctx.Err() == nil {
					f.log.Error().Err(err).Msg("backends that a brake holds could not be checked at once")
				}
			})
		}
		f.write(changes)
	}
}

// write writes changes into the audit log. An operator's release has an entry of its own there.
func (f *Follower) write(changes []registry.BrakeChange) {
	for _, c := range changes {
		entry := audit.Change{Action: api.AuditRelease, Resource: "brake", ResourceID: c.Subject(), Actor: audit.ActorNode,
			ActorType: api.ActorSystem, Before: record(c)}
		switch {
		case c.On:
			entry.Action, entry.Before, entry.After = api.AuditHold, nil, record(c)
		case c.Why == "":
			continue
		}
		if err := f.audit(entry); err != nil {
			f.log.Error().Err(err).Str("subject", c.Subject()).Msg("a mass-failure hold is not in the audit log")
		}
	}
}

// change is a brake as the audit log has it.
type change struct {
	api.Brake
	Reason string `json:"reason,omitempty"` // why it ended
}

func record(c registry.BrakeChange) change {
	r := change{api.Brake{Service: c.Service, Agent: c.Agent, Region: c.Region, Concern: c.Concern.Word(),
		Since: api.Moment(c.Since), Until: api.Moment(c.Until), Backends: []string{}}, c.Why}
	for _, id := range c.Held {
		r.Backends = append(r.Backends, id.String())
	}
	return r
}
