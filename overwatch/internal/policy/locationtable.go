package policy

import (
	"strconv"
	"strings"
	"sync"
)

// ClientLocation is a region and position of clients. Decisions are equal for all clients of a location.
type ClientLocation struct {
	Region   string       // empty if the clients have no region
	Position *Coordinates // nil if unknown
}

// LocationTable decides for clients at many locations at once. It caches distances and partitions of the locations, so
// that the cost of a health change does not depend on the number of locations. It is safe for concurrent use.
type LocationTable struct {
	locations   []ClientLocation // without regions, which depend on the name
	rankings    []uint16         // geo.RegionID by location
	singleClass []uint16         // one class for all locations

	mu         sync.Mutex
	distances  map[string][]float32 // kilometers by region and location, without bias
	partitions map[string]*partition
}

// partition groups locations with equal decisions while the same regions have backends. It is immutable.
type partition struct {
	class []uint16 // class by location
	first []int    // one location of each class
}

// maxClasses is the maximum number of cached classes of all partitions, 64 MiB. partitionRoom is the overhead of a
// partition in classes. When the bound is reached, all partitions are removed from the cache. Names retain their
// partitions, so a lower bound would give each name its own partition.
const (
	maxClasses    = 1 << 25
	partitionRoom = 512
)

// NewLocationTable returns a LocationTable for at most 65536 locations. positions contains nil for an unknown position.
// rankings contains geo.RegionID by location, and is retained.
func NewLocationTable(positions []*Coordinates, rankings []uint16) *LocationTable {
	a := &LocationTable{locations: make([]ClientLocation, len(positions)), rankings: rankings, singleClass: make([]uint16,
		len(positions)),
		distances: make(map[string][]float32), partitions: make(map[string]*partition)}
	for i, at := range positions {
		a.locations[i].Position = at
	}
	return a
}

// Locations returns the locations, without regions. The caller must not change the slice.
func (a *LocationTable) Locations() []ClientLocation { return a.locations }

// Decide decides for each location, like policy.Decide if the rules use latency, otherwise like
// policy.DecideWithoutReasons. It returns the distinct decisions, and the index of the decision for each location. The
// caller must not change the results. Decide ignores the rules' Client and Position; their Coordinates and Bias must be
// equal in all calls. clients is the region of clients by ranking; own identifies clients among all calls.
func (a *LocationTable) Decide(rules Rules, candidates []Candidate, family Family, clients []string, own string) (
	decisions []Decision, class []uint16) {
	decide := DecideWithoutReasons
	if rules.UsesLatency() {
		decide = Decide
	}
	s := selection{candidates: candidates, rules: &rules, family: family}
	rules.Client, rules.Position = "", nil
	if s.selectServing(nil); len(s.remaining) == 0 && !rules.hasGeofence() {
		return []Decision{decide(rules, candidates, family)}, a.singleClass
	}
	p := a.partitionFor(rules, s.remainingRegions(), s.expectedRegions(), clients, own)
	decisions = make([]Decision, len(p.first))
	for i, location := range p.first {
		rules.Client, rules.Position = clients[a.rankings[location]], a.locations[location].Position
		decisions[i] = decide(rules, candidates, family)
	}
	return decisions, p.class
}

// partitionFor returns the partition of the locations under the rules. serving are the regions with candidates that can
// answer, expected the regions that should have some. Two locations are in one class if they have the same nearest
// serving region, the same serving regions within the tolerance, and the same nearest expected region.
func (a *LocationTable) partitionFor(rules Rules, serving, expected, clients []string, own string) *partition {
	key := partitionKey(rules, serving, expected) + "\n" + own
	a.mu.Lock() // even during the computation: concurrent callers usually need the same partition
	defer a.mu.Unlock()
	if known := a.partitions[key]; known != nil {
		return known
	}
	if (len(a.partitions)+1)*(len(a.locations)+partitionRoom) > maxClasses {
		clear(a.partitions)
	}
	p := &partition{class: make([]uint16, len(a.locations))}
	classes := make(map[string]uint16)
	now, then := a.newBandFinder(rules, serving), a.newBandFinder(rules, expected)
	var mark []byte
	for i, location := range a.locations {
		region := clients[a.rankings[i]]
		if rules.isFenced(region) { // the position only decides whether the algorithm has its data
			mark = append(append(mark[:0], 'f', 'r'), region...)
			if location.Position != nil {
				mark[1] = 'p'
			}
		} else if rules.NeedsPosition() && location.Position != nil && now.hasPosition &&
			(rules.Algorithm != Geolocation || region == "") {
			mark = then.appendNearest(now.appendBand(append(mark[:0], 'p'), i), i)
		} else {
			mark = append(append(mark[:0], 'r'), region...)
		}
		class, known := classes[string(mark)]
		if !known {
			class = uint16(len(p.first))
			classes[string(mark)] = class
			p.first = append(p.first, i)
		}
		p.class[i] = class
	}
	a.partitions[key] = p
	return p
}

// partitionKey returns the key of a partition in the cache.
func partitionKey(rules Rules, serving, expected []string) string {
	var b strings.Builder
	b.WriteString(rules.Algorithm.String() + " " + rules.Fallback.String() + " " +
		strconv.FormatFloat(rules.Parameters().ToleranceKm, 'g', -1, 64))
	if rules.hasGeofence() {
		b.WriteString("\nfenced: " + strings.Join(rules.Regions, ","))
	}
	for _, list := range [][]string{serving, expected} {
		b.WriteByte('\n')
		b.WriteString(strings.Join(list, ","))
	}
	return b.String()
}

// newBandFinder returns a bandFinder for these regions.
func (a *LocationTable) newBandFinder(rules Rules, regions []string) *bandFinder {
	f := &bandFinder{tolerance: float32(rules.Parameters().ToleranceKm), distances: make([]float32, len(regions))}
	for _, region := range regions {
		to, known := rules.Coordinates[region]
		f.hasPosition = f.hasPosition || known
		f.bias = append(f.bias, rules.Bias[region])
		f.columns = append(f.columns, a.distancesTo(region, to, known))
	}
	return f
}

// distancesTo returns the distance of each location from a region in kilometers, without bias; nil if the position of
// the region is unknown.
func (a *LocationTable) distancesTo(region string, to Coordinates, known bool) []float32 {
	if !known {
		return nil
	}
	if column := a.distances[region]; column != nil {
		return column
	}
	column := make([]float32, len(a.locations))
	for i, location := range a.locations {
		if location.Position != nil {
			column[i] = float32(Distance(*location.Position, to))
		}
	}
	a.distances[region] = column
	return column
}

// bandFinder finds the nearest region of a location, and the regions within the tolerance.
type bandFinder struct {
	columns     [][]float32 // by region
	bias        []int       // by region
	tolerance   float32
	hasPosition bool // at least one region has a position

	distances []float32
	regions   []int
}

// appendBand appends a key of the nearest region and the regions within the tolerance.
func (f *bandFinder) appendBand(to []byte, location int) []byte {
	f.findBand(location)
	for _, i := range f.regions {
		to = append(to, byte(i>>8), byte(i))
	}
	return to
}

// appendNearest appends a key of the nearest region.
func (f *bandFinder) appendNearest(to []byte, location int) []byte {
	f.findBand(location)
	return append(to, byte(f.regions[0]>>8), byte(f.regions[0]))
}

// findBand sets regions to the result of the function findBand for a location.
func (f *bandFinder) findBand(location int) {
	for i, column := range f.columns {
		f.distances[i] = unknownDistance
		if column != nil {
			f.distances[i] = applyBias(column[location], f.bias[i])
		}
	}
	f.regions = findBand(f.distances, f.tolerance, f.regions[:0])
}
