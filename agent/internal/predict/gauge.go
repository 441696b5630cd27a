package predict

import (
	"context"
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

const cgroupRoot = "/sys/fs/cgroup"

// Gauge measures CPU and memory usage: of the container if it has limits, otherwise of the host. It belongs to a single
// goroutine.
type Gauge struct {
	group cgroup
	// State of the previous reading of the processor.
	at      time.Time
	used    time.Duration // by the group
	host    cpu.TimesStat
	limited bool // the reading was of the control group
	known   bool
}

// NewGauge returns a Gauge of this machine.
func NewGauge() *Gauge { return &Gauge{group: cgroup{os.DirFS(cgroupRoot)}} }

// CPU returns the CPU usage since the previous call, in percent. It returns an error for the first call, and for the
// first call after a limit was set or removed.
func (g *Gauge) CPU(ctx context.Context) (percent float64, err error) {
	now := time.Now()
	elapsed := now.Sub(g.at)
	used, processors, err := g.group.processor()
	limited := err == nil
	switch {
	case err == nil: // a group's limit may exceed the processors of the host
		percent = busyShare(float64(used-g.used), float64(elapsed)*min(processors, float64(runtime.NumCPU())))
	case errors.Is(err, errNoLimit):
		var times []cpu.TimesStat
		if times, err = cpu.TimesWithContext(ctx, false); err != nil {
			return 0, err
		}
		if len(times) == 0 {
			return 0, errors.New("the system gives no processor times")
		}
		percent = hostBusy(g.host, times[0])
		g.host = times[0]
	default:
		return 0, err
	}
	first := !g.known || limited != g.limited
	g.at, g.used, g.limited, g.known = now, used, limited, true
	if first {
		return 0, errFirstReading
	}
	return percent, nil
}

// errFirstReading means that there is no previous reading.
var errFirstReading = errors.New("the processor was read for the first time")

// hostBusy returns the percentage of the time from a to b in which processors worked.
func hostBusy(a, b cpu.TimesStat) float64 {
	idle := (b.Idle + b.Iowait) - (a.Idle + a.Iowait)
	all := totalTime(b) - totalTime(a)
	return busyShare(all-idle, all)
}

// totalTime returns the sum of all times. User includes the time of guests.
func totalTime(t cpu.TimesStat) float64 {
	return t.User + t.System + t.Idle + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal
}

// busyShare returns part of whole in percent, from 0 to 100.
func busyShare(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(max(100*part/whole, 0), 100)
}

// Memory returns the percentage of memory that is in use and not immediately reclaimable. It ignores a limit above the
// memory of the host.
func (g *Gauge) Memory(ctx context.Context) (percent float64, err error) {
	used, limit, err := g.group.memory()
	if err != nil && !errors.Is(err, errNoLimit) {
		return 0, err
	}
	limited := err == nil
	host, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0, err
	}
	if limited && limit < host.Total {
		return busyShare(float64(used), float64(limit)), nil
	}
	return busyShare(float64(host.Total-min(host.Available, host.Total)), float64(host.Total)), nil
}
