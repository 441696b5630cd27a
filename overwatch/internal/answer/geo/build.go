package geo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// MaxRegions bounds the regions of a Table, and its rankings.
const MaxRegions = carrier - 1

// Region holds the parts of a region that place clients. Codes are compared without case.
type Region struct {
	Name       string
	Countries  []string  // ISO 3166-1 alpha-2
	Continents []string  // AF, AN, AS, EU, NA, OC, SA
	Position   *Position // nil: not known
}

// Position is a point on the earth.
type Position struct {
	Latitude, Longitude float64 // degrees
}

// Mapping places the clients of one network in a region, whatever the database has.
type Mapping struct {
	CIDR    netip.Prefix
	Region  string
	Comment string
}

// Sources holds everything that a Table is compiled from.
type Sources struct {
	Regions       []Region
	DefaultRegion string // empty: clients that nothing places are in no region
	Mappings      []Mapping
	Database      *Database // nil: mappings and the default region only
	Spots         bool      // whether to compile Table.Spots too, which distinguishes clients by position
}

// New compiles a Table. It returns an error for a mapping or default region that names no region, for two mappings of
// one network, for a database that cannot be read to its end, and for more than MaxRegions rankings.
func New(s Sources) (*Table, error) {
	if len(s.Regions) > MaxRegions {
		return nil, fmt.Errorf("%d regions: at most %d can be told apart", len(s.Regions), MaxRegions)
	}
	b := newBuilder(s)
	var err error
	if b.fallback, err = b.region(s.DefaultRegion, "default_region"); err != nil {
		return nil, err
	}
	v4, v6, err := b.compile(layer{placed: b.byPlace, mapped: b.mapped})
	if err != nil {
		return nil, err
	}
	t := &Table{sources: s, alike: s.Database == nil && len(s.Mappings) == 0}
	if s.Spots {
		if t.spots, err = b.compileSpots(); err != nil {
			return nil, err
		}
	}
	if b.full {
		return nil, fmt.Errorf("more than %d combinations of regions: remove custom mappings or regions", MaxRegions)
	}
	numbers := b.sortRankings()
	t.v4, t.v6 = newRanges4(v4, numbers), newRanges6(v6, numbers)
	t.spots.renumber(numbers)
	t.everywhere = RegionID(numbers[b.byPlace(Place{})])
	for _, ranking := range b.rankings {
		names := make([]string, len(ranking))
		for i, id := range ranking {
			names[i] = s.Regions[id].Name
		}
		t.rankings = append(t.rankings, names)
	}
	return t, nil
}

// ranking lists regions that a client may be in, best first: indexes of Sources.Regions, each once.
type ranking []uint16

type builder struct {
	sources               Sources
	ids                   map[string]uint16  // index of the region
	countries, continents map[string]ranking // the regions that name the code
	fallback              ranking            // the default region, or none
	v4, v6                *trie

	rankings []ranking // by number; the first is empty
	numbers  map[string]uint16
	places   map[[2]string]uint16 // ranking by country and continent
	over     map[[2]uint16]uint16 // ranking by the region of a mapping, and the ranking without the mapping
	full     bool                 // there are more rankings than numbers
}

func newBuilder(s Sources) *builder {
	b := &builder{sources: s, ids: make(map[string]uint16), countries: make(map[string]ranking),
		continents: make(map[string]ranking), numbers: make(map[string]uint16), places: make(map[[2]string]uint16),
		over: make(map[[2]uint16]uint16)}
	b.number(nil)
	for i, r := range s.Regions {
		id := uint16(i)
		if _, known := b.ids[r.Name]; !known {
			b.ids[r.Name] = id
		}
		for _, c := range r.Countries {
			c = presentCountry(c)
			b.countries[c] = append(b.countries[c], id)
		}
		for _, c := range r.Continents {
			c = strings.ToUpper(c)
			b.continents[c] = append(b.continents[c], id)
		}
	}
	return b
}

// region returns the ranking of one region, the empty one for no name.
func (b *builder) region(name, key string) (ranking, error) {
	if name == "" {
		return nil, nil
	}
	id, ok := b.ids[name]
	if !ok {
		return nil, fmt.Errorf("%s %q: no such region", key, name)
	}
	return ranking{id}, nil
}

// number returns the number of the ranking that has the regions of all parts, each once. The number is provisional
// until sortRankings.
func (b *builder) number(parts ...ranking) uint16 {
	var all ranking
	var key []byte
	for _, part := range parts {
		for _, id := range part {
			if !slices.Contains(all, id) {
				all, key = append(all, id), append(key, byte(id>>8), byte(id))
			}
		}
	}
	number, known := b.numbers[string(key)]
	if known {
		return number
	}
	if len(b.rankings) == MaxRegions {
		b.full = true
		return 0
	}
	number = uint16(len(b.rankings))
	b.numbers[string(key)] = number
	b.rankings = append(b.rankings, all)
	return number
}

// sortRankings puts the rankings in an order that does not depend on the order of the database, and returns the new
// number of each.
func (b *builder) sortRankings() []uint16 {
	order := make([]uint16, len(b.rankings))
	for i := range order {
		order[i] = uint16(i)
	}
	slices.SortFunc(order, func(x, y uint16) int { return slices.Compare(b.rankings[x], b.rankings[y]) })
	sorted, numbers := make([]ranking, len(order)), make([]uint16, len(order))
	for i, was := range order {
		sorted[i], numbers[was] = b.rankings[was], uint16(i)
	}
	b.rankings = sorted
	return numbers
}

// layer maps addresses to values: numbers of rankings, or spots.
type layer struct {
	placed func(Place) uint16                // the value of a place in the database; of the zero Place, the default
	mapped func(region, under uint16) uint16 // the value of a custom mapping to a region over another value
}

// compile returns the largest blocks of addresses that have one value in a layer, for both families.
func (b *builder) compile(l layer) (v4, v6 []block, err error) {
	b.v4, b.v6 = newTrie(l.placed(Place{})), newTrie(l.placed(Place{}))
	if b.sources.Database != nil {
		for network, at := range b.sources.Database.networks() {
			if at.err != nil {
				return nil, nil, at.err
			}
			b.of(network).set(network, l.placed(at.Place))
		}
	}
	if err := b.addMappings(l); err != nil {
		return nil, nil, err
	}
	for _, c := range carriers {
		b.v6.set(c, carrier)
	}
	return b.v4.blocks(), b.v6.blocks(), nil
}

// byPlace returns the ranking of a client at a place of the database.
func (b *builder) byPlace(p Place) uint16 {
	key := [2]string{p.Country, p.Continent}
	number, known := b.places[key]
	if !known {
		number = b.number(b.countries[p.Country], b.continents[p.Continent], b.fallback)
		b.places[key] = number
	}
	return number
}

// mapped returns the ranking of a client with a mapping to a region, and the ranking under without the mapping.
func (b *builder) mapped(region, under uint16) uint16 {
	key := [2]uint16{region, under}
	number, known := b.over[key]
	if !known {
		number = b.number(ranking{region}, b.rankings[under])
		b.over[key] = number
	}
	return number
}

func (b *builder) addMappings(l layer) error {
	ordered := slices.Clone(b.sources.Mappings)
	for i, m := range ordered {
		if !m.CIDR.IsValid() {
			return fmt.Errorf("custom mapping %d: not a network", i)
		}
		ordered[i].CIDR = canonical(m.CIDR)
	}
	// Shorter prefixes first, so that longer ones precede them in the rankings.
	slices.SortStableFunc(ordered, func(x, y Mapping) int {
		return cmp.Or(cmp.Compare(x.CIDR.Bits(), y.CIDR.Bits()), x.CIDR.Addr().Compare(y.CIDR.Addr()))
	})
	for i, m := range ordered {
		if i > 0 && ordered[i-1].CIDR == m.CIDR {
			return fmt.Errorf("custom mapping %s: given twice", m.CIDR)
		}
		to, err := b.region(m.Region, "custom mapping "+m.CIDR.String()+" to region")
		if err != nil {
			return err
		}
		if len(to) > 0 {
			b.of(m.CIDR).update(m.CIDR, func(under uint16) uint16 { return l.mapped(to[0], under) })
		}
	}
	return nil
}

// of returns the trie of a prefix's family.
func (b *builder) of(p netip.Prefix) *trie {
	if p.Addr().Is4() {
		return b.v4
	}
	return b.v6
}

// canonical masks a network, and turns one of IPv4-mapped addresses into an IPv4 network.
func canonical(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
