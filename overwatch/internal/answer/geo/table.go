package geo

import (
	"encoding/binary"
	"net/netip"
)

// RegionID numbers the regions that a client may be in: NoRegion, or an index of Table.Rankings. A name takes the first
// region of the ranking that it uses, so one RegionID may be different regions for different names.
type RegionID uint16

// NoRegion is the empty ranking: nothing places the client, and there is no default region.
const NoRegion RegionID = 0

// carrier marks blocks of IPv6 addresses that carry an IPv4 address. Locate never ends in one; they keep neighbouring
// blocks from reaching into them.
const carrier = 1<<16 - 1

// Table maps addresses to rankings of regions. It is immutable.
type Table struct {
	sources  Sources
	rankings [][]string // by RegionID
	v4       ranges4
	v6       ranges6
	spots    *Spots // nil: not asked for

	alike      bool     // all clients have the ranking everywhere
	everywhere RegionID // the ranking with the default region only
}

// Rankings returns the regions that clients may be in, best first, by RegionID: the regions of custom mappings from the
// longest prefix, of the country, of the continent, and the default region. The first ranking is empty. Tables of the
// same regions and mappings mostly have equal rankings. The caller must not change the result.
func (t *Table) Rankings() [][]string { return t.rankings }

// Region returns the region of a client, as Locate does. It costs next to nothing where all clients are in one
// region.
func (t *Table) Region(client netip.Addr) RegionID {
	if t.alike && client.IsValid() {
		return t.everywhere
	}
	region, _ := t.Locate(client)
	return region
}

// Spots returns the table of spots, nil where Sources did not ask for it.
func (t *Table) Spots() *Spots { return t.spots }

// Locate returns the region of a client and the length of the shortest prefix of its address all of whose addresses
// are in that region too: the scope prefix length of RFC 7871 section 7.2.1. It does not allocate.
func (t *Table) Locate(client netip.Addr) (region RegionID, scope uint8) {
	value, scope := locate(client, &t.v4, &t.v6)
	return RegionID(value), scope
}

// locate returns the value of the block that contains an address, and the block's prefix length.
func locate(client netip.Addr, v4 *ranges4, v6 *ranges6) (value uint16, scope uint8) {
	if !client.IsValid() {
		return 0, 0
	}
	if inside, offset, ok := embedded(client); ok {
		value, scope = v4.find(inside)
		return value, scope + offset
	}
	b := client.As16()
	return v6.find(binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:]))
}

// front is the number of leading bits that choose the slice of blocks to search.
const front = 16

// ranges4 holds blocks of IPv4 addresses in order. Each reaches to just before the next.
type ranges4 struct {
	blocks []block4
	first  []uint32 // the block that holds the first address of each front
}

// block4 holds the start of a block beside its place, so that a lookup misses the cache once.
type block4 struct {
	start uint32
	place
}

// place is the value and the prefix length of a block.
type place struct {
	value uint16
	bits  uint8
}

// newRanges4 replaces the value of each block by its entry in values, if there are values.
func newRanges4(blocks []block, values []uint16) ranges4 {
	r := ranges4{first: index(blocks), blocks: make([]block4, len(blocks))}
	for i, b := range blocks {
		r.blocks[i] = block4{uint32(b.hi >> 32), placeOfBlock(b, values)}
	}
	return r
}

func (r *ranges4) find(a uint32) (value uint16, bits uint8) {
	low, high := int(r.first[a>>(32-front)]), int(r.first[a>>(32-front)+1])
	for low < high { // the last block that starts at or before a
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
	places []place
	first  []uint32
}

// newRanges6 is newRanges4 for IPv6 addresses.
func newRanges6(blocks []block, values []uint16) ranges6 {
	r := ranges6{first: index(blocks), starts: make([][2]uint64, len(blocks)), places: make([]place, len(blocks))}
	for i, b := range blocks {
		r.starts[i], r.places[i] = [2]uint64{b.hi, b.lo}, placeOfBlock(b, values)
	}
	return r
}

func (r *ranges6) find(hi, lo uint64) (value uint16, bits uint8) {
	low, high := int(r.first[hi>>(64-front)]), int(r.first[hi>>(64-front)+1])
	for low < high {
		mid := int(uint(low+high+1) >> 1)
		if s := r.starts[mid]; s[0] < hi || s[0] == hi && s[1] <= lo {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return r.places[low].value, r.places[low].bits
}

func placeOfBlock(b block, values []uint16) place {
	value := uint16(b.value)
	if values != nil && value != carrier {
		value = values[value]
	}
	return place{value, b.bits}
}

// index returns the block with the first address of each front, and the last block behind them.
func index(blocks []block) []uint32 {
	first := make([]uint32, 1<<front+1)
	last := 0
	for i := range first[:1<<front] {
		start := uint64(i) << (64 - front)
		for last+1 < len(blocks) && (blocks[last+1].hi < start || blocks[last+1].hi == start && blocks[last+1].lo == 0) {
			last++
		}
		first[i] = uint32(last)
	}
	first[1<<front] = uint32(len(blocks) - 1)
	return first
}
