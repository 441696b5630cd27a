package validation

import (
	"fmt"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/registry"
)

// What the schedule itself costs for each check.
func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d targets", n), func(b *testing.B) {
			s := newSchedule(interval)
			now := time.Now()
			s.follow(targets(n), now, func(registry.Target) prober { return fake{} })
			b.ReportAllocs()
			for b.Loop() {
				now = s.queue[0].due
				s.finish(s.next(now), now)
			}
		})
	}
}
