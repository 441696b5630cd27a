package decisions

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// FlowBucket is the resolution of counts in time. FlowSpan is the time for which they are kept.
	FlowBucket = 5 * time.Minute
	FlowSpan   = 24 * time.Hour
	// MaxFlows bounds the counts that are kept, over all buckets. Where there would be more, the oldest buckets go. In a
	// single bucket, all flows beyond it are counted as the zero Flow.
	MaxFlows = 1 << 16
)

// Flow is a domain, a region of clients, and the region that they were sent to. The zero Flow counts all flows beyond
// MaxFlows.
type Flow struct {
	Domain      string // without its final dot
	Source      string // the clients' region, empty for none
	Destination string // the backends' region, empty for none
}

// compare compares flows by domain, source and destination.
func (f *Flow) compare(other *Flow) int {
	return cmp.Or(cmp.Compare(f.Domain, other.Domain), cmp.Compare(f.Source, other.Source),
		cmp.Compare(f.Destination, other.Destination))
}

// FlowCount counts the answers of a flow.
type FlowCount struct {
	Flow
	Count  uint64
	Latest time.Time // the time of the last of them, to sumPace
}

// flows holds counts by time, the newest bucket last.
type flows struct {
	buckets []*bucket
	size    int // counts in all buckets
}

type bucket struct {
	begin  time.Time
	counts map[Flow]*tally
}

type tally struct {
	count  uint64
	latest time.Time
}

// newest returns the bucket of now, which it adds if there is none.
func (f *flows) newest(now time.Time) *bucket {
	begin := now.Truncate(FlowBucket)
	if last := len(f.buckets) - 1; last >= 0 && !f.buckets[last].begin.Before(begin) {
		return f.buckets[last]
	}
	b := &bucket{begin, make(map[Flow]*tally)}
	f.buckets = append(f.buckets, b)
	return b
}

// tally returns the count of a flow in the newest bucket. It is valid as long as that bucket is the newest.
func (f *flows) tally(newest *bucket, flow Flow) *tally {
	if t := newest.counts[flow]; t != nil {
		return t
	}
	for f.size >= MaxFlows && len(f.buckets) > 1 {
		f.drop()
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

// drop drops the oldest bucket.
func (f *flows) drop() {
	f.size -= len(f.buckets[0].counts)
	f.buckets[0].counts = nil // results may point to the bucket for long
	f.buckets = slices.Delete(f.buckets, 0, 1)
}

// restore puts buckets of earlier processes before the present ones. A bucket of the same time takes up their counts.
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

// forget drops the buckets older than FlowSpan.
func (f *flows) forget(now time.Time) {
	for len(f.buckets) > 0 && now.Sub(f.buckets[0].begin) > FlowSpan+FlowBucket {
		f.drop()
	}
}

// Flows returns the counts of the buckets that overlap the time from start to end, the largest first. A zero time is no
// bound.
func (r *Recorder) Flows(start, end time.Time) []FlowCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum()
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
