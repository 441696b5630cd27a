package predict

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gslb.internal/agent/internal/config"
	"gslb.internal/shared/wire"
)

// The signals in the log and in label values.
const (
	signalCPU    = "cpu"
	signalMemory = "memory"
	signalErrors = "error_rate"
)

// Watch measures the machine and counts errors at an interval, and sets and clears early warnings.
type Watch struct {
	options Options
	cpu     threshold
	memory  threshold
	errors  map[Target]*trend
	source  *application // nil: failed checks are counted
	state   atomic.Pointer[state]
	blind   [2]bool // measuring CPU and memory failed, and the error was logged
	half    bool    // the last measurement was the first of the two readings of the CPU usage
	active  *prometheus.GaugeVec
	percent *prometheus.GaugeVec
}

// trend is the error rate of a backend.
type trend struct {
	rate      rate
	threshold threshold
}

func newTrend(e config.ErrorRate) *trend {
	return &trend{rate: rate{window: e.Window}, threshold: threshold{limit: e.Threshold}}
}

// state is the readers' view. It is never edited.
type state struct {
	cpu, memory float64 // percent, 0 when unknown
	all         wire.Warnings
	errors      map[Target]bool
}

// New returns a Watch without any warning.
func New(o Options) (*Watch, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &Watch{
		options: o, cpu: threshold{limit: o.CPU.Threshold}, memory: threshold{limit: o.Memory.Threshold},
		errors: make(map[Target]*trend),
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gslb_agent_signal_active",
			Help: "1 while an early warning is set, by signal; error_rate for any backend.",
		}, []string{"signal"}),
		percent: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gslb_agent_resource_percent",
			Help: "Use of the processor and of memory in percent, of the container where it has limits, else of the host; " +
				"absent while it cannot be read.",
		}, []string{"resource"}),
	}
	o.Registerer.MustRegister(w.active, w.percent)
	w.source = newApplication(o)
	for _, signal := range []string{signalCPU, signalMemory, signalErrors} {
		w.active.WithLabelValues(signal).Set(0)
	}
	w.state.Store(&state{})
	return w, nil
}

// secondReading is the time between the first two readings of the processor. Without it, a restarted agent under load
// would have no warning for a whole interval.
const secondReading = time.Second

// Run measures the machine until ctx ends. It calls changed after each change of a warning. changed must not block.
func (w *Watch) Run(ctx context.Context, changed func()) error {
	ticker := time.NewTicker(w.options.CheckInterval)
	defer ticker.Stop()
	for {
		if w.measureAll(ctx, time.Now()) {
			changed()
		}
		var second <-chan time.Time
		if w.half {
			second = time.After(secondReading)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-second:
			ticker.Reset(w.options.CheckInterval) // no load for an empty interval
		case <-ticker.C:
		}
	}
}

// measureAll performs all measurements and reports whether a warning changed.
func (w *Watch) measureAll(ctx context.Context, now time.Time) (changed bool) {
	next := &state{errors: make(map[Target]bool)}
	w.half = false
	if value, ok := w.measure(ctx, signalCPU, 0, w.options.Meter.CPU); ok {
		next.cpu = value
		changed = w.judge(signalCPU, &w.cpu, value) || changed
	}
	if value, ok := w.measure(ctx, signalMemory, 1, w.options.Meter.Memory); ok {
		next.memory = value
		changed = w.judge(signalMemory, &w.memory, value) || changed
	}
	if w.options.Enabled && w.source != nil {
		changed = w.lookAtSource(ctx, next, now) || changed
	} else if w.options.Enabled {
		changed = w.lookAtErrors(next, now) || changed
	}
	if w.cpu.set {
		next.all.CPUMillis = wire.Millis(w.options.CPU.BleedDuration)
	}
	if w.memory.set {
		next.all.MemoryMillis = wire.Millis(w.options.Memory.BleedDuration)
	}
	w.state.Store(next)
	return changed
}

// measure performs a measurement of the machine. It logs only the first of consecutive failures.
func (w *Watch) measure(ctx context.Context, name string, which int,
	read func(context.Context) (float64, error)) (value float64, ok bool) {
	value, err := read(ctx)
	if err == nil {
		w.percent.WithLabelValues(name).Set(value)
		return value, true
	}
	w.percent.DeleteLabelValues(name) // an outdated value would be misleading
	if errors.Is(err, errFirstReading) {
		w.half = true
	} else if ctx.Err() == nil && !w.blind[which] {
		w.blind[which] = true
		w.options.Logger.Warn().Err(err).Str("signal", name).Msg("cannot be measured, so there is no early warning of it")
	}
	return 0, false
}

// judge applies a measured value to its threshold and reports whether the signal changed.
func (w *Watch) judge(name string, t *threshold, value float64) (changed bool) {
	if !w.options.Enabled || !t.observe(value) {
		return false
	}
	w.active.WithLabelValues(name).Set(number(t.set))
	w.logSignal(name, t, value, "")
	return true
}

// lookAtErrors updates the error rate of each backend from its failed checks.
func (w *Watch) lookAtErrors(next *state, now time.Time) (changed bool) {
	failures := w.options.Failures()
	for target, total := range failures {
		one := w.errors[target]
		if one == nil {
			one = newTrend(w.options.ErrorRate)
			w.errors[target] = one
		}
		if perMinute := one.rate.perMinute(float64(total), now); one.threshold.observe(perMinute) {
			changed = true
			w.logSignal(signalErrors, &one.threshold, perMinute, target.Service+":"+target.At.String())
		}
	}
	for target, one := range w.errors {
		if _, still := failures[target]; !still {
			delete(w.errors, target)
			continue
		}
		if one.threshold.set {
			next.errors[target] = true
		}
	}
	w.active.WithLabelValues(signalErrors).Set(number(len(next.errors) > 0))
	return changed
}

// logSignal logs a changed signal.
func (w *Watch) logSignal(name string, t *threshold, value float64, backend string) {
	event := w.options.Logger.Info()
	if t.set {
		event = w.options.Logger.Warn()
	}
	if backend != "" {
		event.Str("backend", backend)
	}
	event.Str("signal", name).Float64("value", math.Round(value*10)/10).Float64("threshold", t.limit)
	if t.set {
		event.Msg("early warning: the agent requests less traffic from overwatch nodes")
	} else {
		event.Msg("early warning cleared: traffic comes back")
	}
}

// Warnings returns the current early warnings about a backend.
func (w *Watch) Warnings(t Target) wire.Warnings {
	now := w.state.Load()
	warnings := now.all
	if now.errors[t] {
		warnings.ErrorRateMillis = wire.Millis(w.options.ErrorRate.BleedDuration)
	}
	return warnings
}

// Figures returns the latest use of CPU and memory in percent, or 0 if it is unknown.
func (w *Watch) Figures() (cpu, memory float64) {
	now := w.state.Load()
	return now.cpu, now.memory
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
