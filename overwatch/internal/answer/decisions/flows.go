package decisions

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

const (
	// FlowBucket is how finely flows are told apart in time, FlowSpan how long they are kept.
	FlowBucket = 5 * time.Minute
	FlowSpan   = 24 * time.Hour
	// MaxFlows bounds how many counts are kept, over all buckets. Where there would be more, the oldest buckets go, and what a single
	// bucket has beyond it is one flow without names.
	MaxFlows = 1 << 16
)

// Flow is from where to where clients were sent, for one domain. The zero Flow stands for all that had no room of their own.
type Flow struct {
	Domain      string // without its final dot
	Source      string // the clients' region, empty for none
	Destination string // the backends' region, empty for none
}

// FlowCount is how many answers did.
type FlowCount struct {
	Flow
	Count  uint64
	Latest time.Time // when the last of them was, to about foldPace
}

// flows are counts by time. The newest bucket is the last.
type flows struct {
	buckets []*bucket
	size    int    // counts in all
	opened  uint32 // how many buckets there have been
}

type bucket struct {
	number  uint32 // of all that were opened, from 1
	begin   time.Time
	at      map[Flow]uint32 // in tallies
	tallies []tally
}

type tally struct {
	count  uint64
	latest int64 // Unix time, in seconds
}

// open returns the bucket of a time.
func (f *flows) open(now time.Time) *bucket {
	begin := now.Truncate(FlowBucket)
	if last := len(f.buckets) - 1; last >= 0 && !f.buckets[last].begin.Before(begin) {
		return f.buckets[last]
	}
	f.opened++
	b := &bucket{number: f.opened, begin: begin, at: make(map[Flow]uint32)}
	f.buckets = append(f.buckets, b)
	return b
}

// place is where the newest bucket counts a flow, as long as that bucket is the newest.
func (f *flows) place(flow Flow) uint32 {
	newest := f.buckets[len(f.buckets)-1]
	at, there := newest.at[flow]
	if there {
		return at
	}
	for f.size >= MaxFlows && len(f.buckets) > 1 {
		f.drop()
	}
	if f.size >= MaxFlows {
		flow = Flow{}
		if at, there = newest.at[flow]; there {
			return at
		}
	}
	at = uint32(len(newest.tallies))
	newest.at[flow] = at
	newest.tallies = append(newest.tallies, tally{})
	f.size++
	return at
}

func (f *flows) drop() {
	f.size -= len(f.buckets[0].tallies)
	f.buckets = slices.Delete(f.buckets, 0, 1)
}

// forget drops what is too old.
func (f *flows) forget(now time.Time) {
	for len(f.buckets) > 0 && now.Sub(f.buckets[0].begin) > FlowSpan+FlowBucket {
		f.drop()
	}
}

// Flows is the counts of the buckets that overlap the time from start to end, the largest first. A zero time is no bound.
func (r *Recorder) Flows(start, end time.Time) []FlowCount {
	r.fold()
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := make(map[Flow]*FlowCount)
	for _, b := range r.flows.buckets {
		if !start.IsZero() && !b.begin.Add(FlowBucket).After(start) || !end.IsZero() && !b.begin.Before(end) {
			continue
		}
		for flow, at := range b.at {
			n := &b.tallies[at]
			if sum[flow] == nil {
				sum[flow] = &FlowCount{Flow: flow}
			}
			sum[flow].Count += n.count
			sum[flow].Latest = time.Unix(n.latest, 0)
		}
	}
	out := make([]FlowCount, 0, len(sum))
	for count := range maps.Values(sum) {
		out = append(out, *count)
	}
	slices.SortFunc(out, func(a, b FlowCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	return out
}

// Missed is how many answers were not told apart, since they came faster than tables could be replaced.
func (r *Recorder) Missed() (missed uint64) {
	for _, s := range r.list() {
		missed += s.missed.Load()
	}
	return missed
}
