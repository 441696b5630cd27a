package overwatch

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

const (
	// refusalsPerHour bounds the entries about refusals, since whoever has the gossip key can make up agents: what is kept of an operator's
	// changes must not be pushed out of the log by them. The metrics count all of them.
	refusalsPerHour = 60
	// waitingRefusals bounds those that wait for the disk.
	waitingRefusals = 16
)

// refused is what an agent said and this node did not believe.
type refused struct {
	agent, service string
	backend        netip.AddrPort // the zero value where it is about no backend
	code           wire.RejectCode
}

// Error describes it for people; it is what the audit log has of it.
func (r refused) Error() string {
	text := "refused: " + r.code.String()
	if r.service != "" {
		text += ", service " + r.service
	}
	if r.backend.IsValid() {
		text += ", backend " + r.backend.String()
	}
	return text
}

// worth says whether somebody may be trying what he must not. Other refusals are what happens after a restart, or the node's own limits.
func (r refused) worth() bool {
	switch r.code {
	case wire.CodeWrongToken, wire.CodeUnknownService, wire.CodeRevoked, wire.CodePinMismatch, wire.CodeConflictingClaim, wire.CodePolicy, wire.CodeLimit, wire.CodeLocked:
		return true
	case wire.CodeNotEnrolled:
		return r.backend.IsValid() // a service that it has not proved
	}
	return false
}

// refusals writes what was refused into the audit log, the same of an agent once an hour. Nobody waits for it.
type refusals struct {
	record func(audit.Change) error
	log    zerolog.Logger
	queue  chan audit.Change

	mu    sync.Mutex
	since time.Time
	told  map[refused]bool // since then
}

func newRefusals(record func(audit.Change) error, log zerolog.Logger) *refusals {
	return &refusals{record: record, log: log, queue: make(chan audit.Change, waitingRefusals), told: make(map[refused]bool)}
}

// note is called for each refusal, by any goroutine.
func (r *refusals) note(from netip.Addr, agent string, claim wire.RefusedClaim) {
	what := refused{agent: agent, service: claim.Service, code: claim.Code}
	if claim.Address.IsValid() {
		what.backend = netip.AddrPortFrom(claim.Address, claim.Port)
	}
	if !what.worth() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.since) >= time.Hour {
		r.since = now
		clear(r.told)
	}
	if r.told[what] || len(r.told) >= refusalsPerHour {
		return
	}
	select {
	case r.queue <- audit.Change{
		Action: "validate", Resource: "agent", ResourceID: agent, Actor: agent, ActorType: api.ActorSystem, ActorIP: from.Unmap().String(), Err: what,
	}:
		r.told[what] = true
	default: // the disk is slow: the agent will say it again
	}
}

// run writes until ctx ends.
func (r *refusals) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case change := <-r.queue:
			if err := r.record(change); err != nil {
				r.log.Error().Err(err).Msg("a refusal is not in the audit log")
			}
		}
	}
}
