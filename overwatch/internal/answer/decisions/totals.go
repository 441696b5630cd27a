package decisions

import (
	"maps"
	"time"

	"gslb.internal/overwatch/internal/policy"
)

// maxRegions bounds how many regions are told apart in Totals; all others are one without a name.
const maxRegions = 1024

// Totals counts steered answers since the start, those without an address included.
type Totals struct {
	Decisions   uint64
	ByAlgorithm map[string]uint64 // the one that chose: the fallback where the first lacked data
	ByRegion    map[string]uint64 // of the backends
	ByOutcome   map[policy.Outcome]uint64
	// GeoHits are answers that depended on where the client is, to clients who are in a region.
	GeoHits uint64
	// Average is how long finding an answer took, of those that were sampled; 0: none was.
	Average time.Duration
}

func newTotals() Totals {
	return Totals{ByAlgorithm: map[string]uint64{}, ByRegion: map[string]uint64{}, ByOutcome: map[policy.Outcome]uint64{}}
}

// add counts answers that are led by one of the decision's addresses, or by none.
func (t *Totals) add(l *likeness, lead int, count uint64) {
	t.Decisions += count
	t.ByAlgorithm[l.algorithm] += count
	t.ByOutcome[l.outcome] += count
	if lead >= len(l.regions) {
		return
	}
	destination := l.regions[lead]
	if _, known := t.ByRegion[destination]; !known && len(t.ByRegion) >= maxRegions {
		destination = ""
	}
	t.ByRegion[destination] += count
	if l.placed && l.source != "" {
		t.GeoHits += count
	}
}

// Totals is what was counted until now. The maps are the caller's.
func (r *Recorder) Totals() Totals {
	r.fold()
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.totals
	t.ByAlgorithm, t.ByRegion, t.ByOutcome = maps.Clone(t.ByAlgorithm), maps.Clone(t.ByRegion), maps.Clone(t.ByOutcome)
	var took, timed uint64
	for _, s := range r.sockets {
		took += s.took.Load()
		timed += s.timed.Load()
	}
	if timed > 0 {
		t.Average = time.Duration(took / timed)
	}
	return t
}
