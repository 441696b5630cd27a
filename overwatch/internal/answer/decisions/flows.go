package decisions

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// FlowBucket is the time resolution of counts. FlowSpan is their retention time.
	FlowBucket = 5 * time.Minute
	FlowSpan   = 24 * time.Hour
	// MaxFlows is the largest number of counts over all buckets. If a new count exceeds the bound, the oldest buckets
	// are removed. If a single bucket exceeds the bound, further flows are counted as the zero Flow.
	MaxFlows = 1 << 16
)

// Flow is a domain, a region of clients, and the backend region of their answers. The zero Flow counts all flows that
// exceed MaxFlows.
type Flow struct {
	Domain      string // without the final dot
	Source      string // region of the clients; empty if they have none
	Destination string // region of the backends; empty if they have none
}

// compare compares flows by domain, source and destination.
func (f *Flow) compare(other *Flow) int {
	return cmp.Or(cmp.Compare(f.Domain, other.Domain), cmp.Compare(f.Source, other.Source),
		cmp.Compare(f.Destination, other.Destination))
}

// FlowCount is the number of answers of a flow.
type FlowCount struct {
	Flow
	Count  uint64
	Latest time.Time // time of the last answer, with the resolution collectInterval
}

// flows holds counts by time, the latest bucket last.
type flows struct {
	buckets []*bucket
	size    int // number of counts in all buckets
}

type bucket struct {
	begin  time.Time
	counts map[Flow]*tally
}

type tally struct {
	count  uint64
	latest time.Time
}

// currentBucket returns the bucket of now, and adds it if necessary.
func (f *flows) currentBucket(now time.Time) *bucket {
	begin := now.Truncate(FlowBucket)
	if last := len(f.buckets) - 1; last >= 0 && !f.buckets[last].begin.Before(begin) {
		return f.buckets[last]
	}
	b := &bucket{begin, make(map[Flow]*tally)}
	f.buckets = append(f.buckets, b)
	return b
}

// tallyOf returns the count of a flow in the current bucket. It is valid while the bucket is the current one.
func (f *flows) tallyOf(newest *bucket, flow Flow) *tally {
	if t := newest.counts[flow]; t != nil {
		return t
	}
	for f.size >= MaxFlows && len(f.buckets) > 1 {
		f.dropOldest()
	}
	if f.size >= MaxFlows {
		flow = Flow{}
	}
	t := newest.counts[flow]
	if t == nil {
		t = new(tally)
		newest.counts[flow] = t
		f.size++
	}
	return t
}

// dropOldest removes the oldest bucket.
func (f *flows) dropOldest() {
	f.size -= len(f.buckets[0].counts)
	f.buckets[0].counts = nil // results can refer to the bucket for a long time
	f.buckets = slices.Delete(f.buckets, 0, 1)
}

// restore inserts buckets of earlier processes before the current buckets, and adds counts of the same time.
func (f *flows) restore(earlier []*bucket) {
	for _, b := range f.buckets {
		if last := len(earlier) - 1; last >= 0 && !earlier[last].begin.Before(b.begin) {
			for flow, n := range earlier[last].counts {
				if known := b.counts[flow]; known != nil {
					known.count += n.count
				} else {
					b.counts[flow] = n
				}
			}
			earlier = earlier[:last]
		}
	}
	f.buckets = append(earlier, f.buckets...)
	f.size = 0
	for _, b := range f.buckets {
		f.size += len(b.counts)
	}
}

// dropExpired removes the buckets that are older than FlowSpan.
func (f *flows) dropExpired(now time.Time) {
	for len(f.buckets) > 0 && now.Sub(f.buckets[0].begin) > FlowSpan+FlowBucket {
		f.dropOldest()
	}
}

// Flows returns the counts of the buckets that overlap the time from start to end, the largest first. A zero start or
// end means no bound.
func (r *Recorder) Flows(start, end time.Time) []FlowCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
	sum := make(map[Flow]*FlowCount)
	for _, b := range r.flows.buckets {
		if !start.IsZero() && !b.begin.Add(FlowBucket).After(start) || !end.IsZero() && !b.begin.Before(end) {
			continue
		}
		for flow, n := range b.counts {
			if sum[flow] == nil {
				sum[flow] = &FlowCount{Flow: flow}
			}
			sum[flow].Count += n.count
			sum[flow].Latest = n.latest
		}
	}
	out := make([]FlowCount, 0, len(sum))
	for count := range maps.Values(sum) {
		out = append(out, *count)
	}
	slices.SortFunc(out, func(a, b FlowCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Flow.compare(&b.Flow))
	})
	return out
}
