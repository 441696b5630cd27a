package agent

import (
	"math"
	"net/netip"
	"runtime"
	"sync/atomic"
	"time"

	"gslb.internal/agent/internal/monitor"
	"gslb.internal/agent/internal/predict"
	"gslb.internal/shared/wire"
)

// outlook is what the agent says of its backends: what its checks found, what it warns of, and whether it drains them.
// Any goroutine may use it.
type outlook struct {
	checks   *monitor.Monitor
	warnings *predict.Watch
	// draining holds over which time, in milliseconds; 0 while there is no drain.
	draining atomic.Uint32
}

// backends returns all backends as they are now.
func (o *outlook) backends() []wire.Backend {
	list := o.checks.Snapshot()
	over := o.draining.Load()
	for i := range list {
		b := &list[i]
		b.Warnings = o.warnings.Warnings(targetOf(b))
		b.Draining, b.DrainMillis = over > 0, over
	}
	return list
}

// drain makes every backend one that is drained over the given time, which must be above zero.
func (o *outlook) drain(over time.Duration) {
	o.draining.Store(uint32(min(max(over.Milliseconds(), 1), math.MaxUint32)))
}

// figures are the agent's own, in the form they travel in.
func (o *outlook) figures() wire.Figures {
	cpu, memory := o.warnings.Figures()
	f := wire.Figures{CPUPercent: hundredths(cpu), MemoryPercent: hundredths(memory), ChecksTotal: o.checks.Checks(), Cores: uint16(min(runtime.NumCPU(), math.MaxUint16))}
	for _, failed := range o.checks.Failures() {
		f.ChecksFailed += failed
	}
	return f
}

// hundredths never makes a figure that is known 0, which would mean that it is not.
func hundredths(percent float64) uint16 {
	if percent <= 0 {
		return 0
	}
	return uint16(min(max(math.Round(percent*100), 1), math.MaxUint16))
}

// failures are those of checks, as predict counts them.
func failures(checks *monitor.Monitor) map[predict.Target]uint64 {
	failed := make(map[predict.Target]uint64)
	for b, n := range checks.Failures() {
		failed[targetOf(&b)] = n
	}
	return failed
}

func targetOf(b *wire.Backend) predict.Target {
	return predict.Target{Service: b.Service, At: netip.AddrPortFrom(b.Address, b.Port)}
}
