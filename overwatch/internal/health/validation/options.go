package validation

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/check"
)

// DefaultConcurrency bounds the checks under way at once. Each holds a descriptor and some 30 KiB. At the
// reference values (every 30 s, 5 s to answer) it lets 6 000 backends be dead at once without delaying the checks of
// the others.
const DefaultConcurrency = 1024

// heavyPart is the part of the concurrency that checks with a pattern have, beside that of the others.
const heavyPart = 8

func heavyConcurrency(concurrency int) int { return max(concurrency/heavyPart, 1) }

// matchers bounds the patterns matched at a time: at most a quarter of the processors, since one may take seconds
// and DNS needs them.
func matchers() int { return max(runtime.GOMAXPROCS(0)/4, 1) }

// Targets lists the backends to check; registry.View is one. Neither method may block.
type Targets interface {
	// TargetsGeneration changes whenever Targets would return something else.
	TargetsGeneration() uint64
	Targets() []registry.Target
}

// Options is what a Validator needs.
type Options struct {
	Targets Targets
	// Report takes the verdict of each check. It may block, which delays the next check of that backend, and is called by
	// several goroutines at once, for one backend by one at a time.
	Report func(context.Context, registry.Verdict) error
	// Interval is the time between two checks of one backend, Timeout bounds each, where the backend's own check has no
	// times: overwatch.validation's. Retime changes both.
	Interval, Timeout time.Duration
	// Concurrency bounds the checks under way; 0 means DefaultConcurrency. Checks that match a pattern have an eighth of
	// it for themselves.
	Concurrency int
	// UserAgent is sent with http checks.
	UserAgent  string
	Registerer prometheus.Registerer
	Logger     zerolog.Logger
}

// complete checks o and fills in what may be left out.
func (o *Options) complete() error {
	if o.Targets == nil || o.Report == nil || o.Registerer == nil {
		return errors.New("validation: Targets, Report and Registerer must be set")
	}
	if o.Concurrency == 0 {
		o.Concurrency = DefaultConcurrency
	}
	if o.Concurrency < 0 {
		return fmt.Errorf("validation: concurrency %d must be above zero", o.Concurrency)
	}
	return times{o.Interval, o.Timeout}.check()
}

// times are the interval and the timeout of a check that names none.
type times struct{ interval, timeout time.Duration }

func (t times) check() error {
	sample := t.given(check.Spec{Type: check.TCP, FailureThreshold: 1, SuccessThreshold: 1})
	if problems := sample.Validate(); len(problems) > 0 {
		return fmt.Errorf("overwatch.validation.check_%w", problems[0])
	}
	return nil
}

// given returns a backend's check with this node's times where it has none.
func (t times) given(spec check.Spec) check.Spec {
	if spec.Interval == 0 {
		spec.Interval, spec.Timeout = t.interval, t.timeout
	}
	return spec
}

// prober makes one check; *check.Prober is the one.
type prober interface {
	Probe(ctx context.Context) check.Result
}

// proberMaker makes the prober of a target; any goroutine may call it.
type proberMaker func(registry.Target) (prober, error)

// networkProber is the proberMaker of the real network.
func (v *Validator) networkProber(t registry.Target) (prober, error) {
	return v.patterns.NewProber(v.times.Load().given(t.Spec), netip.AddrPortFrom(t.ID.Address, t.ID.Port),
		v.options.UserAgent)
}
