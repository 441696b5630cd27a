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

// outlook is the content of the agent's report: results of checks, early warnings and drains. Any goroutine may use it.
type outlook struct {
	checks   *monitor.Monitor
	warnings *predict.Watch
	// draining is the time, in milliseconds, over which the backends drain; 0 without a drain.
	draining atomic.Uint32
	// leaving contains single backends that drain permanently, with the duration of the drain.
	leaving atomic.Pointer[map[predict.Target]uint32]
	// notices contains the backends that drain because of --notify, over noticeOver.
	notices    atomic.Pointer[notices]
	noticeOver time.Duration // agent.drain_time; set before the first use
}

// backends returns the current report about all backends.
func (o *outlook) backends() []wire.Backend {
	list := o.checks.Snapshot()
	every, leaving := o.draining.Load(), o.leaving.Load()
	for i := range list {
		b := &list[i]
		b.Warnings = o.warnings.Warnings(targetOf(b))
		over := every
		if leaving != nil && over == 0 {
			over = (*leaving)[targetOf(b)]
		}
		if n := o.notices.Load(); over == 0 && n != nil && n.has(b) {
			over = max(wire.Millis(o.noticeOver), 1) // 0 means no drain
		}
		b.Draining, b.DrainMillis = over > 0, over
	}
	return list
}

// drain marks every backend as draining over the given time, which must be above zero.
func (o *outlook) drain(over time.Duration) {
	o.draining.Store(wire.Millis(over))
}

// setDraining marks exactly these backends as draining over the given time.
func (o *outlook) setDraining(gone []predict.Target, over time.Duration) {
	leaving := make(map[predict.Target]uint32, len(gone))
	for _, b := range gone {
		leaving[b] = wire.Millis(over)
	}
	o.leaving.Store(&leaving)
}

// figures returns the agent's own metrics in their wire form.
func (o *outlook) figures() wire.Figures {
	cpu, memory := o.warnings.Figures()
	f := wire.Figures{CPUPercent: hundredths(cpu), MemoryPercent: hundredths(memory), ChecksTotal: o.checks.Checks(),
		Cores: uint16(min(runtime.NumCPU(), math.MaxUint16))}
	for _, failed := range o.checks.Failures() {
		f.ChecksFailed += failed
	}
	return f
}

// hundredths converts a percentage to hundredths of a percent. The result of a value above 0 is at least 1, because 0
// means unknown.
func hundredths(percent float64) uint16 {
	if percent <= 0 {
		return 0
	}
	return uint16(min(max(math.Round(percent*100), 1), math.MaxUint16))
}

// failures returns the number of failed checks of each backend in the format of package predict.
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
