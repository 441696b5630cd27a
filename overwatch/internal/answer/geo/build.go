package geo

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// MaxRegions bounds the regions of a Table.
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
// one network, and for a database that cannot be read to its end.
func New(s Sources) (*Table, error) {
	if len(s.Regions) > MaxRegions {
		return nil, fmt.Errorf("%d regions: at most %d can be told apart", len(s.Regions), MaxRegions)
	}
	b := newBuilder(s)
	def, err := b.region(s.DefaultRegion, "default_region")
	if err != nil {
		return nil, err
	}
	b.fallback = def
	t := &Table{sources: s, alike: s.Database == nil && len(s.Mappings) == 0, everywhere: def}
	regions := layer{
		placed: func(p Place) uint16 { return uint16(b.byPlace(p)) },
		mapped: func(id RegionID) uint16 { return uint16(id) },
	}
	if t.v4, t.v6, err = b.compile(regions); err != nil {
		return nil, err
	}
	if s.Spots {
		if t.spots, err = b.compileSpots(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

type builder struct {
	sources               Sources
	ids                   map[string]RegionID
	countries, continents map[string]RegionID // the first region that names the code
	fallback              RegionID
	v4, v6                *trie
}

func newBuilder(s Sources) *builder {
	b := &builder{sources: s, ids: make(map[string]RegionID), countries: make(map[string]RegionID),
		continents: make(map[string]RegionID)}
	for i, r := range s.Regions {
		id := RegionID(i + 1)
		if _, known := b.ids[r.Name]; !known {
			b.ids[r.Name] = id
		}
		for _, c := range r.Countries {
			first(b.countries, c, id)
		}
		for _, c := range r.Continents {
			first(b.continents, c, id)
		}
	}
	return b
}

func first(m map[string]RegionID, code string, id RegionID) {
	code = strings.ToUpper(code)
	if _, known := m[code]; !known {
		m[code] = id
	}
}

func (b *builder) region(name, key string) (RegionID, error) {
	if name == "" {
		return NoRegion, nil
	}
	id, ok := b.ids[name]
	if !ok {
		return 0, fmt.Errorf("%s %q: no such region", key, name)
	}
	return id, nil
}

// layer maps addresses to values: regions, or spots.
type layer struct {
	placed func(Place) uint16    // the value of a place in the database; of the zero Place, the default
	mapped func(RegionID) uint16 // the value of a custom mapping to a region
}

// compile returns the largest blocks of addresses that have one value in a layer, for both families.
func (b *builder) compile(l layer) (v4 ranges4, v6 ranges6, err error) {
	b.v4, b.v6 = newTrie(l.placed(Place{})), newTrie(l.placed(Place{}))
	if b.sources.Database != nil {
		for network, at := range b.sources.Database.networks() {
			if at.err != nil {
				return v4, v6, at.err
			}
			b.set(network, l.placed(at.Place))
		}
	}
	if err := b.addMappings(l); err != nil {
		return v4, v6, err
	}
	for _, c := range carriers {
		b.v6.set(c, carrier)
	}
	return newRanges4(b.v4.blocks()), newRanges6(b.v6.blocks()), nil
}

// byPlace returns the region of a client at a place of the database.
func (b *builder) byPlace(p Place) RegionID {
	if id, ok := b.countries[p.Country]; ok && p.Country != "" {
		return id
	}
	if id, ok := b.continents[p.Continent]; ok && p.Continent != "" {
		return id
	}
	return b.fallback
}

func (b *builder) addMappings(l layer) error {
	ordered := slices.Clone(b.sources.Mappings)
	for i, m := range ordered {
		if !m.CIDR.IsValid() {
			return fmt.Errorf("custom mapping %d: not a network", i)
		}
		ordered[i].CIDR = canonical(m.CIDR)
	}
	// Shorter prefixes first, so that longer ones overwrite them.
	slices.SortStableFunc(ordered, func(x, y Mapping) int {
		return cmp.Or(cmp.Compare(x.CIDR.Bits(), y.CIDR.Bits()), x.CIDR.Addr().Compare(y.CIDR.Addr()))
	})
	for i, m := range ordered {
		if i > 0 && ordered[i-1].CIDR == m.CIDR {
			return fmt.Errorf("custom mapping %s: given twice", m.CIDR)
		}
		id, err := b.region(m.Region, "custom mapping "+m.CIDR.String()+" to region")
		if err != nil {
			return err
		}
		b.set(m.CIDR, l.mapped(id))
	}
	return nil
}

func (b *builder) set(p netip.Prefix, value uint16) {
	if p.Addr().Is4() {
		b.v4.set(p, value)
	} else {
		b.v6.set(p, value)
	}
}

// canonical masks a network, and turns one of IPv4-mapped addresses into an IPv4 network.
func canonical(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
