package policy

import (
	"strconv"
	"strings"
	"sync"
)

// Spot is a place of clients: a region and a position. Decisions do not tell clients at one Spot apart.
type Spot struct {
	Region   string       // empty: in none
	Position *Coordinates // nil: not known
}

// Atlas decides for clients at many spots at once. It keeps distances and partitions of the spots, so that a change of
// health costs the same with ten spots as with ten thousand. Many goroutines may use it.
type Atlas struct {
	spots    []Spot   // without regions, which depend on the name
	rankings []uint16 // geo.RegionID, by spot
	alike    []uint16 // one class for all of them

	mu         sync.Mutex
	far        map[string][]float32 // by region, by spot: kilometres, before the bias
	partitions map[string]*partition
}

// partition groups the spots that are answered alike while the same regions have backends; immutable.
type partition struct {
	class []uint16 // class of each spot
	first []int    // one spot of each class
}

// maxClasses bounds the classes of all partitions that are kept, 64 MiB of them; partitionRoom stands for what is
// around those of one. At the bound all are dropped. Names hold the partitions that they are decided by, so that with
// a lower bound each would have its own.
const (
	maxClasses    = 1 << 25
	partitionRoom = 512
)

// NewAtlas makes an Atlas of at most 65536 spots with these positions, nil for an unknown one, and these rankings of
// regions (geo.RegionID). It keeps rankings.
func NewAtlas(positions []*Coordinates, rankings []uint16) *Atlas {
	a := &Atlas{spots: make([]Spot, len(positions)), rankings: rankings, alike: make([]uint16, len(positions)),
		far: make(map[string][]float32), partitions: make(map[string]*partition)}
	for i, at := range positions {
		a.spots[i].Position = at
	}
	return a
}

// Spots returns the spots, without regions. The caller must not change the slice.
func (a *Atlas) Spots() []Spot { return a.spots }

// Decide decides for a client at each of the spots, like policy.Choose, or like policy.Decide where the rules measure.
// It returns the different decisions, and for each spot the index of its decision. The caller must not change what it
// returns. The rules' Client and Position are ignored; their Coordinates and Bias must always be the same. clients has
// the region of clients by ranking; own identifies these clients among all that the Atlas is called with.
func (a *Atlas) Decide(rules Rules, candidates []Candidate, family Family, clients []string, own string) (
	decisions []Decision, class []uint16) {
	decide := Choose
	if rules.Measures() {
		decide = Decide
	}
	s := selection{candidates: candidates, rules: &rules, family: family}
	if s.sift(nil); len(s.in) == 0 {
		return []Decision{decide(rules, candidates, family)}, a.alike
	}
	p := a.split(rules, s.regions(), s.expected(), clients, own)
	decisions = make([]Decision, len(p.first))
	for i, spot := range p.first {
		rules.Client, rules.Position = clients[a.rankings[spot]], a.spots[spot].Position
		decisions[i] = decide(rules, candidates, family)
	}
	return decisions, p.class
}

// split returns the partition of the spots under the rules. serving are the regions with candidates that may answer,
// expected those that should have some. Two spots are in one class if the same serving regions are nearest and within
// the tolerance, and the same expected region is nearest.
func (a *Atlas) split(rules Rules, serving, expected, clients []string, own string) *partition {
	key := partitionKey(rules, serving, expected) + "\n" + own
	a.mu.Lock() // also while it is made: callers that come meanwhile mostly need the same one
	defer a.mu.Unlock()
	if known := a.partitions[key]; known != nil {
		return known
	}
	if (len(a.partitions)+1)*(len(a.spots)+partitionRoom) > maxClasses {
		clear(a.partitions)
	}
	p := &partition{class: make([]uint16, len(a.spots))}
	classes := make(map[string]uint16)
	now, then := a.newBandFinder(rules, serving), a.newBandFinder(rules, expected)
	var mark []byte
	for i, spot := range a.spots {
		region := clients[a.rankings[i]]
		if rules.NeedsPosition() && spot.Position != nil && now.known &&
			(rules.Algorithm != Geolocation || region == "") {
			mark = then.nearest(now.band(append(mark[:0], 'p'), i), i)
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

func partitionKey(rules Rules, serving, expected []string) string {
	var b strings.Builder
	b.WriteString(rules.Algorithm.String() + " " + rules.Fallback.String() + " " +
		strconv.FormatFloat(rules.Parameters().ToleranceKm, 'g', -1, 64))
	for _, list := range [][]string{serving, expected} {
		b.WriteByte('\n')
		b.WriteString(strings.Join(list, ","))
	}
	return b.String()
}

// newBandFinder returns a bandFinder for these regions, with their distances from every spot.
func (a *Atlas) newBandFinder(rules Rules, regions []string) *bandFinder {
	f := &bandFinder{tolerance: float32(rules.Parameters().ToleranceKm), row: make([]float32, len(regions))}
	for _, region := range regions {
		to, known := rules.Coordinates[region]
		f.known = f.known || known
		f.bias = append(f.bias, rules.Bias[region])
		f.columns = append(f.columns, a.column(region, to, known))
	}
	return f
}

// column returns the distance of every spot from a region in kilometres, before the bias; nil where the region's place
// is not known.
func (a *Atlas) column(region string, to Coordinates, known bool) []float32 {
	if !known {
		return nil
	}
	if column := a.far[region]; column != nil {
		return column
	}
	column := make([]float32, len(a.spots))
	for i, spot := range a.spots {
		if spot.Position != nil {
			column[i] = float32(Distance(*spot.Position, to))
		}
	}
	a.far[region] = column
	return column
}

// bandFinder finds the nearest of some regions for a spot, and those within the tolerance of it.
type bandFinder struct {
	columns   [][]float32 // by region
	bias      []int       // by region
	tolerance float32
	known     bool // the place of at least one region is known

	row  []float32
	room []int
}

// band appends octets that are equal for spots with the same nearest region and the same regions within the tolerance.
func (f *bandFinder) band(to []byte, spot int) []byte {
	f.find(spot)
	for _, i := range f.room {
		to = append(to, byte(i>>8), byte(i))
	}
	return to
}

// nearest appends octets that are equal for spots with the same nearest region.
func (f *bandFinder) nearest(to []byte, spot int) []byte {
	f.find(spot)
	return append(to, byte(f.room[0]>>8), byte(f.room[0]))
}

func (f *bandFinder) find(spot int) {
	for i, column := range f.columns {
		f.row[i] = unknownDistance
		if column != nil {
			f.row[i] = biased(column[spot], f.bias[i])
		}
	}
	f.room = bandOf(f.row, f.tolerance, f.room[:0])
}
