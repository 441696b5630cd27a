package geo

import (
	"encoding/binary"
	"net/netip"
)

// RegionID is the number of a ranking of regions: NoRegion or an index of Table.Rankings. A name uses the first region
// of the ranking that the name has, so a RegionID can mean different regions for different names.
type RegionID uint16

// NoRegion is the empty ranking: the client has no region, and there is no default region.
const NoRegion RegionID = 0

// embeddingBlock marks blocks of IPv6 addresses with an embedded IPv4 address. Locate never returns them; they separate
// the neighboring blocks.
const embeddingBlock = 1<<16 - 1

// Table is the region table: it maps addresses to rankings of regions. It is immutable.
type Table struct {
	sources   Sources
	rankings  [][]string // by RegionID
	v4        ranges4
	v6        ranges6
	locations *Locations // nil unless Sources.WithLocations

	uniform       bool     // all clients have the ranking uniformRegion
	uniformRegion RegionID // ranking with only the default region
}

// Rankings returns the rankings of regions by RegionID, the best region first: regions of custom mappings by descending
// prefix length, of the country, of the continent, and the default region. The first ranking is empty. Tables with
// equal regions and mappings usually have equal rankings. The caller must not change the result.
func (t *Table) Rankings() [][]string { return t.rankings }

// Region returns the region of a client, as Locate does. It is faster if all clients are in one region.
func (t *Table) Region(client netip.Addr) RegionID {
	if t.uniform && client.IsValid() {
		return t.uniformRegion
	}
	region, _ := t.Locate(client)
	return region
}

// Locations returns the location table; nil unless Sources.WithLocations.
func (t *Table) Locations() *Locations { return t.locations }

// Locate returns the region of a client, and the length of the shortest prefix of the address with only addresses in
// this region: the scope prefix length of RFC 7871 section 7.2.1. It does not allocate.
func (t *Table) Locate(client netip.Addr) (region RegionID, scope uint8) {
	value, scope := locate(client, &t.v4, &t.v6)
	return RegionID(value), scope
}

// locate returns the value and the prefix length of the block that contains an address.
func locate(client netip.Addr, v4 *ranges4, v6 *ranges6) (value uint16, scope uint8) {
	if !client.IsValid() {
		return 0, 0
	}
	if inside, offset, ok := embeddedIPv4(client); ok {
		value, scope = v4.find(inside)
		return value, scope + offset
	}
	b := client.As16()
	return v6.find(binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]))
}

// indexBits is the number of leading address bits that select the range of blocks to search.
const indexBits = 16

// ranges4 holds sorted blocks of IPv4 addresses. Each block ends before the next.
type ranges4 struct {
	blocks []block4
	first  []uint32 // index of the block with the first address of each prefix of indexBits
}

// block4 holds the start of a block next to its value, so that a lookup causes one cache miss.
type block4 struct {
	start uint32
	blockValue
}

// blockValue is the value and the prefix length of a block.
type blockValue struct {
	value uint16
	bits  uint8
}

// newRanges4 returns the ranges of blocks. If values is not nil, it replaces each block value v by values[v].
func newRanges4(blocks []block, values []uint16) ranges4 {
	r := ranges4{first: buildIndex(blocks), blocks: make([]block4, len(blocks))}
	for i, b := range blocks {
		r.blocks[i] = block4{uint32(b.hi >> 32), newBlockValue(b, values)}
	}
	return r
}

// find returns the value and the prefix length of the block that contains a.
func (r *ranges4) find(a uint32) (value uint16, bits uint8) {
	low, high := int(r.first[a>>(32-indexBits)]), int(r.first[a>>(32-indexBits)+1])
	for low < high { // searches the last block that starts at or before a
		mid := int(uint(low+high+1) >> 1)
		if r.blocks[mid].start <= a {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return r.blocks[low].value, r.blocks[low].bits
}

// ranges6 is ranges4 for IPv6 addresses.
type ranges6 struct {
	starts [][2]uint64
	values []blockValue
	first  []uint32
}

// newRanges6 is newRanges4 for IPv6 addresses.
func newRanges6(blocks []block, values []uint16) ranges6 {
	r := ranges6{first: buildIndex(blocks), starts: make([][2]uint64, len(blocks)), values: make([]blockValue,
		len(blocks))}
	for i, b := range blocks {
		r.starts[i], r.values[i] = [2]uint64{b.hi, b.lo}, newBlockValue(b, values)
	}
	return r
}

// find returns the value and the prefix length of the block that contains the address.
func (r *ranges6) find(hi, lo uint64) (value uint16, bits uint8) {
	low, high := int(r.first[hi>>(64-indexBits)]), int(r.first[hi>>(64-indexBits)+1])
	for low < high {
		mid := int(uint(low+high+1) >> 1)
		if s := r.starts[mid]; s[0] < hi || s[0] == hi && s[1] <= lo {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return r.values[low].value, r.values[low].bits
}

// newBlockValue returns the value of a block after renumbering.
func newBlockValue(b block, values []uint16) blockValue {
	value := uint16(b.value)
	if values != nil && value != embeddingBlock {
		value = values[value]
	}
	return blockValue{value, b.bits}
}

// buildIndex returns the index of the block with the first address of each prefix, followed by the last index.
func buildIndex(blocks []block) []uint32 {
	first := make([]uint32, 1<<indexBits+1)
	last := 0
	for i := range first[:1<<indexBits] {
		start := uint64(i) << (64 - indexBits)
		for last+1 < len(blocks) && (blocks[last+1].hi < start || blocks[last+1].hi == start && blocks[last+1].lo == 0) {
			last++
		}
		first[i] = uint32(last)
	}
	first[1<<indexBits] = uint32(len(blocks) - 1)
	return first
}
