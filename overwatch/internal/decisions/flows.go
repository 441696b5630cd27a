package decisions

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"gslb.internal/overwatch/internal/zone"
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
	buckets []bucket
	size    int // counts in all
}

type bucket struct {
	begin  time.Time
	counts map[Flow]*tally
}

type tally struct {
	count  uint64
	latest int64 // Unix time, in seconds
}

func (f *flows) add(now time.Time, flow Flow, count uint64) {
	begin := now.Truncate(FlowBucket)
	if last := len(f.buckets) - 1; last < 0 || f.buckets[last].begin.Before(begin) {
		f.buckets = append(f.buckets, bucket{begin, make(map[Flow]*tally)})
	}
	newest := f.buckets[len(f.buckets)-1].counts
	n := newest[flow]
	if n == nil {
		for f.size >= MaxFlows && len(f.buckets) > 1 {
			f.drop()
		}
		if f.size >= MaxFlows {
			flow = Flow{}
			n = newest[flow]
		}
	}
	if n == nil {
		n = new(tally)
		newest[flow] = n
		f.size++
	}
	n.count += count
	n.latest = now.Unix()
}

func (f *flows) drop() {
	f.size -= len(f.buckets[0].counts)
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
		for flow, n := range b.counts {
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

// folder adds counts up.
type folder struct {
	into *Recorder
	now  time.Time
	// counted is what has something to add to the totals: a few for all names together.
	counted []*likeness
}

func (f *folder) take(answer zone.Steered, count uint64) {
	l := f.into.known.of(&answer)
	lead := min(int(answer.Lead), len(l.regions))
	if lead < len(l.regions) {
		f.into.flows.add(f.now, Flow{strings.TrimSuffix(answer.Basis.Name, "."), l.source, l.regions[lead]}, count)
	}
	if l.led[lead] += count; !l.counted {
		l.counted = true
		f.counted = append(f.counted, l)
	}
}

// total adds to the totals what was taken.
func (f *folder) total() {
	for _, l := range f.counted {
		for lead, count := range l.led {
			if count > 0 {
				f.into.totals.add(l, lead, count)
			}
		}
		clear(l.led)
		l.counted = false
	}
}
