package decisions

import (
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// maxCounters is the largest number of regions with separate counters. Other regions are counted with an empty name.
const maxCounters = 1024

// Totals counts load-balanced answers since the start, including answers without an address.
type Totals struct {
	Decisions   uint64
	ByAlgorithm map[string]uint64 // algorithm that decided; the fallback algorithm if the configured algorithm lacked data
	ByRegion    map[string]uint64 // region of the backends
	ByOutcome   map[policy.Outcome]uint64
	// GeoHits counts answers that depended on the location of the client, for clients in a region.
	GeoHits uint64
	// Average is the mean time to answer a sampled query; 0 without samples.
	Average time.Duration
}

// counters holds counts by value.
type counters[K ~string] map[K]*uint64

// counterOf returns the counter of a value. Values that exceed maxCounters share the counter of the empty value.
func (c counters[K]) counterOf(value K) *uint64 {
	if _, known := c[value]; !known && len(c) >= maxCounters {
		value = ""
	}
	if c[value] == nil {
		c[value] = new(uint64)
	}
	return c[value]
}

// nonZero returns a copy of the counts greater than 0.
func (c counters[K]) nonZero() map[K]uint64 {
	out := make(map[K]uint64, len(c))
	for value, count := range c {
		if *count > 0 {
			out[value] = *count
		}
	}
	return out
}

// Totals returns the counts since the start. The caller owns the maps.
func (r *Recorder) Totals() Totals {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectCounts()
	t := Totals{
		Decisions: r.decisions, GeoHits: r.geoHits, ByAlgorithm: r.algorithms.nonZero(), ByOutcome: r.outcomes.nonZero(),
		ByRegion: r.regions.nonZero(),
	}
	var took, sampled time.Duration
	for _, s := range r.sockets {
		s.mu.Lock()
		took, sampled = took+s.sampledTime, sampled+time.Duration(s.sampled)
		s.mu.Unlock()
	}
	if sampled > 0 {
		t.Average = took / sampled
	}
	return t
}
