// Package impact computes the effect of a planned change on DNS answers: the names that would have too few backends,
// and the clients that would receive other addresses.
package impact

import (
	"context"
	"time"

	"gslb.internal/overwatch/internal/answer/decisions"
	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
)

// Options holds the sources of an Assessor. Every field is required.
type Options struct {
	// View holds the backends.
	View *registry.View
	// DNSView returns the view that DNS answers from.
	DNSView func() *zone.View
	// Flush returns when all changes made before the call are in the answers of DNS.
	Flush func(context.Context) error
	// Decisions counts answers by client region.
	Decisions *decisions.Recorder
	// Now returns the time.
	Now func() time.Time
}

// Assessor computes the effects of changes. It is stateless. Its methods may be called concurrently.
type Assessor struct{ o Options }

// New returns an Assessor.
func New(o Options) *Assessor { return &Assessor{o} }
