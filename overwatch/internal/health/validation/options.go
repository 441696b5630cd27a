package validation

import (
	"context"
	"errors"
	"net/netip"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// heavyPart is the divisor of the concurrency that gives the additional concurrency for checks with a pattern.
const heavyPart = 8

func heavyConcurrency(concurrency int) int { return max(concurrency/heavyPart, 1) }

// matchers returns the maximum number of concurrent pattern matches: a quarter of the cores, because a match may take
// seconds and DNS requires cores.
func matchers() int { return max(runtime.GOMAXPROCS(0)/4, 1) }

// Targets lists the backends to check; registry.View implements it. Its methods must not block.
type Targets interface {
	// CheckTargetsGeneration increases when the result of CheckTargets changes.
	CheckTargetsGeneration() uint64
	CheckTargets() []registry.CheckTarget
}

// Options configures a Validator. Targets, Report and Registerer are required.
type Options struct {
	Targets Targets
	// Report receives the result of each check. It may block, which delays the next check of the backend. Calls for
	// different backends are concurrent.
	Report func(context.Context, registry.CheckResult) error
	// Hints contains backends with an urgent next check; nil: none.
	Hints *Hints
	// Settings are the initial settings; Reconfigure changes them.
	Settings Settings
	// UserAgent is sent with http checks.
	UserAgent  string
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// complete validates o and sets defaults.
func (o *Options) complete() error {
	if o.Targets == nil || o.Report == nil || o.Registerer == nil {
		return errors.New("validation: Targets, Report and Registerer must be set")
	}
	if o.Hints == nil {
		o.Hints = NewHints()
	}
	return o.Settings.complete()
}

// prober performs a check. *check.Prober implements it.
type prober interface {
	Probe(ctx context.Context) check.Result
}

// proberMaker creates the prober of a target. Any goroutine may call it.
type proberMaker func(registry.CheckTarget) (prober, error)

// networkProber is the proberMaker of the real network.
func (v *Validator) networkProber(t registry.CheckTarget) (prober, error) {
	return v.patterns.NewProber(t.Spec, netip.AddrPortFrom(t.ID.Address, t.ID.Port), v.options.UserAgent)
}
