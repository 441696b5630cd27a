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
		return nil, fmt.Errorf("%d regions: at most %d are possible", len(s.Regions), MaxRegions)
	}
	b := newBuilder(s)
	var err error
	if b.fallback, err = b.region(s.DefaultRegion, "default_region"); err != nil {
		return nil, err
	}
	if err = b.addMappings(); err != nil {
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
	chains                []chain
	over4, over6          []block // the chain of mappings of all addresses

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

// region returns the ranking with a single region. The ranking is empty for an empty name.
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
func (b *builder) compile(l layer) (v4, v6 blocks, err error) {
	add := func(to *blocks, over []block) func(block) {
		return func(network block) {
			over = network.overlay(over, func(part block, chain uint32) {
				part.value = uint32(b.withMappings(l, chain, uint16(part.value)))
				to.add(part)
			})
		}
	}
	add4, add6 := add(&v4, b.over4), add(&v6, b.over6)
	d := b.sources.Database
	if d == nil {
		everywhere := block{value: uint32(l.placed(Place{}))}
		add4(everywhere)
		add6(everywhere)
		return v4, v6, nil
	}
	v4, v6 = make(blocks, 0, len(d.placeOf4)), make(blocks, 0, len(d.placeOf6))
	values := make([]uint16, len(d.places))
	for i, p := range d.places {
		values[i] = l.placed(p)
	}
	if err := d.blocks(values, add4, add6); err != nil {
		return nil, nil, err
	}
	return v4, v6, nil
}

// chain is a custom mapping of a network, and the chain of the mappings of larger networks that contain it.
type chain struct {
	region uint16
	under  uint32 // an index of builder.chains
}

// The first chains.
const (
	noMapping      uint32 = iota // no mapping contains the network
	carriesMapping               // the network carries IPv4 addresses: the mappings of the IPv4 addresses apply
	firstMapping
)

// withMappings returns the value of addresses in a layer to which a chain of mappings applies.
func (b *builder) withMappings(l layer, id uint32, value uint16) uint16 {
	switch id {
	case noMapping:
		return value
	case carriesMapping:
		return carrier
	}
	c := b.chains[id]
	return l.mapped(c.region, b.withMappings(l, c.under, value))
}

// byPlace returns the ranking of a client with a place in the database.
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

// addMappings sets the chain of mappings of all addresses.
func (b *builder) addMappings() error {
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
	b.chains = make([]chain, firstMapping)
	v4, v6 := newTrie(noMapping), newTrie(noMapping)
	for i, m := range ordered {
		if i > 0 && ordered[i-1].CIDR == m.CIDR {
			return fmt.Errorf("custom mapping %s: given twice", m.CIDR)
		}
		to, err := b.region(m.Region, "custom mapping "+m.CIDR.String()+" to region")
		if err != nil {
			return err
		}
		if len(to) == 0 {
			continue
		}
		t := v6
		if m.CIDR.Addr().Is4() {
			t = v4
		}
		t.update(m.CIDR, func(under uint32) uint32 {
			b.chains = append(b.chains, chain{to[0], under})
			return uint32(len(b.chains) - 1)
		})
	}
	for _, c := range carriers {
		v6.set(c, carriesMapping)
	}
	b.over4, b.over6 = v4.blocks(), v6.blocks()
	return nil
}

// canonical masks a network, and turns one of IPv4-mapped addresses into an IPv4 network.
func canonical(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
