package geo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// MaxRegions is the maximum number of regions of a Table, and of its rankings.
const MaxRegions = embeddingBlock - 1

// Region is a region with the criteria that assign clients to it. Codes are case-insensitive.
type Region struct {
	Name       string
	Countries  []string  // ISO 3166-1 alpha-2
	Continents []string  // AF, AN, AS, EU, NA, OC, SA
	Position   *Position // nil if unknown
}

// Position is a geographic position.
type Position struct {
	Latitude, Longitude float64 // degrees
}

// Mapping assigns the clients of a network to a region, with priority over the database.
type Mapping struct {
	CIDR    netip.Prefix
	Region  string
	Comment string
}

// Sources is the input of a Table.
type Sources struct {
	Regions       []Region
	DefaultRegion string // region of clients without another region; empty if such clients have no region
	Mappings      []Mapping
	Database      *Database // nil if only mappings and the default region are used
	WithLocations bool      // also compile Table.Locations, which distinguishes clients by position
}

// New compiles a Table. It returns an error for an unknown region of a mapping or of DefaultRegion, for two mappings of
// one network, for an unreadable database, and for more than MaxRegions rankings.
func New(s Sources) (*Table, error) {
	if len(s.Regions) > MaxRegions {
		return nil, fmt.Errorf("%d regions: at most %d are possible", len(s.Regions), MaxRegions)
	}
	b := newBuilder(s)
	var err error
	if b.defaultRanking, err = b.regionRanking(s.DefaultRegion, "default_region"); err != nil {
		return nil, err
	}
	if err = b.addMappings(); err != nil {
		return nil, err
	}
	v4, v6, err := b.compileBlocks(layer{valueOfRecord: b.rankingOfRecord, valueOfMapping: b.rankingOfMapping})
	if err != nil {
		return nil, err
	}
	t := &Table{sources: s, uniform: s.Database == nil && len(s.Mappings) == 0}
	if s.WithLocations {
		if t.locations, err = b.compileLocations(); err != nil {
			return nil, err
		}
	}
	if b.tooManyRankings {
		return nil, fmt.Errorf("more than %d combinations of regions: remove custom mappings or regions", MaxRegions)
	}
	numbers := b.sortRankings()
	t.v4, t.v6 = newRanges4(v4, numbers), newRanges6(v6, numbers)
	t.locations.renumber(numbers)
	t.uniformRegion = RegionID(numbers[b.rankingOfRecord(Record{})])
	for _, ranking := range b.rankings {
		names := make([]string, len(ranking))
		for i, id := range ranking {
			names[i] = s.Regions[id].Name
		}
		t.rankings = append(t.rankings, names)
	}
	return t, nil
}

// ranking lists the regions of a client, the best first: unique indexes in Sources.Regions.
type ranking []uint16

// builder is the state of New.
type builder struct {
	sources               Sources
	ids                   map[string]uint16  // index in Sources.Regions by name
	countries, continents map[string]ranking // regions by code
	defaultRanking        ranking            // the default region; empty if there is none
	chains                []mappingChain
	mappings4, mappings6  []block // the chain of mappings of all addresses

	rankings        []ranking // by number; the first is empty
	numbers         map[string]uint16
	recordRankings  map[[2]string]uint16 // number by country and continent
	mappingRankings map[[2]uint16]uint16 // number by region of a mapping and number without the mapping
	tooManyRankings bool                 // the rankings exceed MaxRegions
}

func newBuilder(s Sources) *builder {
	b := &builder{sources: s, ids: make(map[string]uint16), countries: make(map[string]ranking),
		continents: make(map[string]ranking), numbers: make(map[string]uint16), recordRankings: make(map[[2]string]uint16),
		mappingRankings: make(map[[2]uint16]uint16)}
	b.rankingNumber(nil)
	for i, r := range s.Regions {
		id := uint16(i)
		if _, known := b.ids[r.Name]; !known {
			b.ids[r.Name] = id
		}
		for _, c := range r.Countries {
			c = currentCountry(c)
			b.countries[c] = append(b.countries[c], id)
		}
		for _, c := range r.Continents {
			c = strings.ToUpper(c)
			b.continents[c] = append(b.continents[c], id)
		}
	}
	return b
}

// regionRanking returns the ranking with a single region. The ranking is empty for an empty name.
func (b *builder) regionRanking(name, key string) (ranking, error) {
	if name == "" {
		return nil, nil
	}
	id, ok := b.ids[name]
	if !ok {
		return nil, fmt.Errorf("%s %q: no such region", key, name)
	}
	return ranking{id}, nil
}

// rankingNumber returns the number of the ranking with the regions of all parts, without duplicates. The number is
// provisional until sortRankings.
func (b *builder) rankingNumber(parts ...ranking) uint16 {
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
		b.tooManyRankings = true
		return 0
	}
	number = uint16(len(b.rankings))
	b.numbers[string(key)] = number
	b.rankings = append(b.rankings, all)
	return number
}

// sortRankings sorts the rankings, so that their numbers do not depend on the order of the database. It returns the new
// number of each ranking.
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

// layer maps addresses to values: numbers of rankings, or location ids.
type layer struct {
	valueOfRecord  func(Record) uint16               // value of a database record; the zero Record has the default value
	valueOfMapping func(region, under uint16) uint16 // value of a custom mapping to a region, over another value
}

// compileBlocks returns the largest blocks of addresses with equal values in a layer, for both families.
func (b *builder) compileBlocks(l layer) (v4, v6 blockList, err error) {
	add := func(to *blockList, over []block) func(block) {
		return func(network block) {
			over = network.overlay(over, func(part block, chain uint32) {
				part.value = uint32(b.applyMappings(l, chain, uint16(part.value)))
				to.add(part)
			})
		}
	}
	add4, add6 := add(&v4, b.mappings4), add(&v6, b.mappings6)
	d := b.sources.Database
	if d == nil {
		everywhere := block{value: uint32(l.valueOfRecord(Record{}))}
		add4(everywhere)
		add6(everywhere)
		return v4, v6, nil
	}
	v4, v6 = make(blockList, 0, len(d.recordOf4)), make(blockList, 0, len(d.recordOf6))
	values := make([]uint16, len(d.records))
	for i, p := range d.records {
		values[i] = l.valueOfRecord(p)
	}
	if err := d.blocks(values, add4, add6); err != nil {
		return nil, nil, err
	}
	return v4, v6, nil
}

// mappingChain is a custom mapping of a network, and the chain of the mappings of larger networks that contain it.
type mappingChain struct {
	region uint16
	under  uint32 // an index of builder.chains
}

// The first chains.
const (
	noMapping        uint32 = iota // no mapping contains the network
	embeddingMapping               // the network embeds IPv4 addresses, which have their own mappings
	firstMapping
)

// applyMappings returns the value of addresses in a layer to which a chain of mappings applies.
func (b *builder) applyMappings(l layer, id uint32, value uint16) uint16 {
	switch id {
	case noMapping:
		return value
	case embeddingMapping:
		return embeddingBlock
	}
	c := b.chains[id]
	return l.valueOfMapping(c.region, b.applyMappings(l, c.under, value))
}

// rankingOfRecord returns the ranking of a client with this database record.
func (b *builder) rankingOfRecord(p Record) uint16 {
	key := [2]string{p.Country, p.Continent}
	number, known := b.recordRankings[key]
	if !known {
		number = b.rankingNumber(b.countries[p.Country], b.continents[p.Continent], b.defaultRanking)
		b.recordRankings[key] = number
	}
	return number
}

// rankingOfMapping returns the ranking of a client with a mapping to a region. under is its ranking without the
// mapping.
func (b *builder) rankingOfMapping(region, under uint16) uint16 {
	key := [2]uint16{region, under}
	number, known := b.mappingRankings[key]
	if !known {
		number = b.rankingNumber(ranking{region}, b.rankings[under])
		b.mappingRankings[key] = number
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
	// Shorter prefixes first, so that longer prefixes have priority in the rankings.
	slices.SortStableFunc(ordered, func(x, y Mapping) int {
		return cmp.Or(cmp.Compare(x.CIDR.Bits(), y.CIDR.Bits()), x.CIDR.Addr().Compare(y.CIDR.Addr()))
	})
	b.chains = make([]mappingChain, firstMapping)
	v4, v6 := newTrie(noMapping), newTrie(noMapping)
	for i, m := range ordered {
		if i > 0 && ordered[i-1].CIDR == m.CIDR {
			return fmt.Errorf("custom mapping %s: given twice", m.CIDR)
		}
		to, err := b.regionRanking(m.Region, "custom mapping "+m.CIDR.String()+" to region")
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
			b.chains = append(b.chains, mappingChain{to[0], under})
			return uint32(len(b.chains) - 1)
		})
	}
	for _, c := range embeddingPrefixes {
		v6.set(c, embeddingMapping)
	}
	b.mappings4, b.mappings6 = v4.blocks(), v6.blocks()
	return nil
}

// canonical masks a network, and converts a network of IPv4-mapped addresses to an IPv4 network.
func canonical(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
