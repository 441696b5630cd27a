package validation // inside: it uses entry, newSchedule and queue

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

// The benchmark measures the cost of the schedule for each check.
func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d targets", n), func(b *testing.B) {
			s := newSchedule(settingsOf(DefaultConcurrency))
			now := time.Now()
			s.replaceTargets(targets(n), now)
			b.ReportAllocs()
			for b.Loop() {
				now = s.plain.queue[0].due
				s.finishCheck(checkOutcome{entry: s.nextEntry(now)}, now)
			}
		})
	}
}

// Agents that appear one after the other make the schedule compare all targets many times.
func BenchmarkFollow(b *testing.B) {
	for _, n := range []int{10_000, 400_000} {
		b.Run(fmt.Sprintf("%d targets", n), func(b *testing.B) {
			s, list := newSchedule(settingsOf(DefaultConcurrency)), targets(n)
			now := time.Now()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s.replaceTargets(list, now)
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ResetTimer()
			for b.Loop() {
				s.replaceTargets(list, now)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/target")
			runtime.KeepAlive(s)
		})
	}
}
