package decisions

import (
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// maxCounters bounds the regions that Totals counts by name; all others count under the empty name.
const maxCounters = 1024

// Totals counts steered answers since the start, those without an address included.
type Totals struct {
	Decisions   uint64
	ByAlgorithm map[string]uint64 // the one that chose: the fallback where the first lacked data
	ByRegion    map[string]uint64 // of the backends
	ByOutcome   map[policy.Outcome]uint64
	// GeoHits counts answers that depended on the client's place, to clients in a region.
	GeoHits uint64
	// Average is the time that finding a sampled answer took; 0: none was sampled.
	Average time.Duration
}

// counters holds counts by a few values.
type counters[K ~string] map[K]*uint64

// of returns the counter of a value. Values beyond maxCounters share that of the empty one.
func (c counters[K]) of(value K) *uint64 {
	if _, known := c[value]; !known && len(c) >= maxCounters {
		value = ""
	}
	if c[value] == nil {
		c[value] = new(uint64)
	}
	return c[value]
}

// counted returns a copy of the counts that are not 0.
func (c counters[K]) counted() map[K]uint64 {
	out := make(map[K]uint64, len(c))
	for value, count := range c {
		if *count > 0 {
			out[value] = *count
		}
	}
	return out
}

// Totals returns the counts since the start. The maps are the caller's.
func (r *Recorder) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum()
	t := Totals{
		Decisions: r.decisions, GeoHits: r.geoHits, ByAlgorithm: r.algorithms.counted(), ByOutcome: r.outcomes.counted(),
		ByRegion: r.regions.counted(),
	}
	var took, sampled time.Duration
	for _, s := range r.sockets {
		s.mu.Lock()
		took, sampled = took+s.took, sampled+time.Duration(s.sampled)
		s.mu.Unlock()
	}
	if sampled > 0 {
		t.Average = took / sampled
	}
	return t
}
