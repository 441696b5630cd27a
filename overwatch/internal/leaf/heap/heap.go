// Package heap sets the growth of the heap between garbage collections. It owns the GC percentage of the runtime. The
// root calls Bound and Follow once. The package must not change a percentage that the environment variable GOGC sets.
package heap

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapPercent is the growth of the live heap before a collection, in percent. A larger value does not reduce
	// latency (measured: integration/bench/choices.md).
	heapPercent = 60
	// smallHeapPercent is the maximum percentage of a small heap, and heapRoom the growth of any heap in octets. With
	// 60 % of 20 MiB, a flood of allocations causes many collections per second, each of which stops all goroutines:
	// under attack, the 99th percentile of the answer time was 5.3 ms instead of 3 ms.
	smallHeapPercent = 300
	heapRoom         = 64 << 20
	// heapPace is the interval between two measurements of the heap.
	heapPace = 5 * time.Second
)

// Bound sets heapPercent unless GOGC is set. The runtime already applies GOMEMLIMIT.
func Bound() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapPercent)
	}
}

// Follow raises the percentage of a small heap until ctx ends, unless GOGC is set. It returns nil.
func Follow(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	defer Bound()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	set := heapPercent
	tick := time.NewTicker(heapPace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		metrics.Read(live)
		if percent := percentFor(live[0].Value.Uint64()); percent != set {
			debug.SetGCPercent(percent)
			set = percent
		}
	}
}

// percentFor returns the percentage for a live heap in octets, as a multiple of heapPercent.
func percentFor(live uint64) int {
	room := int(heapRoom * 100 / max(live, 1))
	return min(max(room/heapPercent*heapPercent, heapPercent), smallHeapPercent)
}
