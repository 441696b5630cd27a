// Package histogram counts durations in a fixed number of buckets, so that the memory for percentiles is constant. The
// DNS server and other packages with latency statistics use it. It must not depend on gslb. Bucket limits grow with the
// duration, so a percentile is exact to an eighth of its value.
package histogram

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// least and most are the bounds of durations. Shorter and longer durations are counted as the bounds.
	least = 256 * time.Nanosecond
	most  = 4 * time.Second
	// steps is the number of buckets per doubling of the duration.
	steps     = 8
	stepBits  = 3
	leastBits = 8 // least is 1 << leastBits nanoseconds
	doublings = 24
	buckets   = doublings * steps
)

// Counter counts durations. It supports one writer and concurrent readers, without locks and allocations.
type Counter struct {
	counts [buckets]atomic.Uint64
	sum    atomic.Uint64 // nanoseconds
}

// Add counts n durations of d.
func (c *Counter) Add(d time.Duration, n int) {
	if n <= 0 {
		return
	}
	c.counts[bucketOf(d)].Add(uint64(n))
	c.sum.Add(uint64(max(d, 0)) * uint64(n))
}

// Snapshot holds counts at a point in time.
type Snapshot struct {
	Counts [buckets]uint64
	Sum    uint64 // nanoseconds
}

// AddTo adds the counts to s.
func (c *Counter) AddTo(s *Snapshot) {
	for i := range c.counts {
		s.Counts[i] += c.counts[i].Load()
	}
	s.Sum += c.sum.Load()
}

// Since returns the counts between an earlier snapshot and s.
func (s *Snapshot) Since(earlier *Snapshot) Snapshot {
	d := Snapshot{Sum: s.Sum - earlier.Sum}
	for i := range s.Counts {
		d.Counts[i] = s.Counts[i] - earlier.Counts[i]
	}
	return d
}

// Count returns the number of durations.
func (s *Snapshot) Count() (n uint64) {
	for _, count := range s.Counts {
		n += count
	}
	return n
}

// Mean returns the mean duration; 0 without durations.
func (s *Snapshot) Mean() time.Duration {
	if n := s.Count(); n > 0 {
		return time.Duration(s.Sum / n)
	}
	return 0
}

// Quantile returns the q-quantile of the durations, rounded up to the limit of a bucket; 0 without durations. q is from
// 0 to 1; Quantile(1) is the maximum.
func (s *Snapshot) Quantile(q float64) time.Duration {
	n := s.Count()
	if n == 0 {
		return 0
	}
	wanted := max(uint64(math.Ceil(q*float64(n))), 1)
	for i, count := range s.Counts {
		if count >= wanted {
			return limit(i)
		}
		wanted -= count
	}
	return most
}

// bucketOf returns the bucket of a duration.
func bucketOf(d time.Duration) int {
	if d < least {
		return 0
	}
	if d >= most {
		return buckets - 1
	}
	ns := uint64(d)
	doubling := bits.Len64(ns) - 1
	step := int(ns>>(doubling-stepBits)) & (steps - 1)
	return (doubling-leastBits)*steps + step
}

// limit is the shortest duration beyond bucket i.
func limit(i int) time.Duration {
	doubling, step := i/steps+leastBits, i%steps
	return time.Duration((uint64(steps) + uint64(step) + 1) << (doubling - stepBits))
}
