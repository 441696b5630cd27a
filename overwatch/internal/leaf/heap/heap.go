// Package heap sets how far the process's heap may grow before it is collected. It owns the runtime's GC percentage;
// the root calls it once. It never sets anything where GOGC is in the environment.
package heap

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapPercent is how far the heap may grow beyond what lives before it is collected, in percent. More makes no answer
	// faster (measured: integration/bench/choices.md).
	heapPercent = 60
	// smallHeapPercent is that of a small heap, and heapRoom what any heap may grow by, in octets. With 60 % of 20 MiB,
	// whoever makes a node allocate makes it collect many times a second, and each collection stops all goroutines for a
	// moment: the slowest hundredth of answers took 5.3 ms under attack, and takes 3.
	smallHeapPercent = 300
	heapRoom         = 64 << 20
	// heapPace is how often the heap is looked at.
	heapPace = 5 * time.Second
)

// Bound sets heapPercent, unless GOGC says otherwise. GOMEMLIMIT is the runtime's.
func Bound() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapPercent)
	}
}

// Follow lets a small heap grow further than heapPercent until ctx ends, unless GOGC says otherwise. It returns nil.
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

// percentFor returns how far a heap of which so many octets live may grow, in whole multiples of heapPercent.
func percentFor(live uint64) int {
	room := int(heapRoom * 100 / max(live, 1))
	return min(max(room/heapPercent*heapPercent, heapPercent), smallHeapPercent)
}
