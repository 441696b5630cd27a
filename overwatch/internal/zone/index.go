package zone

import "hash/maphash"

// index finds slots by their names, by open addressing. A map would do the same; this one takes a fraction of its cache
// misses, which is most of what a query costs when there are a hundred thousand names: one for the cell, one for the slot, in
// which a name of usual length stands itself.
type index struct {
	cells []cell // a power of two of them, at most half in use
}

// seed is the same for all views, so that a hash holds for the next one too.
var seed = maphash.MakeSeed()

// cell refers to a slot; the upper half of the hash spares looking at most that are not meant.
type cell struct {
	tag  uint32
	slot uint32 // number plus one; 0 in a free cell
}

func newIndex(slots []Slot, names []canonical) index {
	size := 16
	for size < 2*len(slots) {
		size *= 2
	}
	x := index{make([]cell, size)}
	for i, name := range names {
		hash := maphash.String(seed, string(name))
		at := uint32(hash) & uint32(size-1)
		for x.cells[at].slot != 0 {
			at = (at + 1) & uint32(size-1)
		}
		x.cells[at] = cell{uint32(hash >> 32), uint32(i + 1)}
	}
	return x
}

// find returns the slot of a canonical name, nil if there is none.
func (v *View) find(name []byte) *Slot { return v.findHashed(name, maphash.Bytes(seed, name)) }

// findHashed is find with the name's hash.
func (v *View) findHashed(name []byte, hash uint64) *Slot {
	if len(v.slots) == 0 {
		return nil
	}
	mask := uint32(len(v.index.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := v.index.cells[at]
		if c.slot == 0 {
			return nil
		}
		if c.tag == uint32(hash>>32) && v.named(c.slot-1, name) {
			return &v.slots[c.slot-1]
		}
	}
}

// candidate is the slot of the name with this hash, or of one with nearly the same; nil if there is none.
func (v *View) candidate(hash uint64) *Slot {
	mask := uint32(len(v.index.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		switch c := v.index.cells[at]; {
		case c.slot == 0:
			return nil
		case c.tag == uint32(hash>>32):
			return &v.slots[c.slot-1]
		}
	}
}

// named says whether a slot has the name.
func (v *View) named(slot uint32, name []byte) bool {
	s := &v.slots[slot]
	if s.length == longName {
		return string(v.names[slot]) == string(name)
	}
	return string(s.short[:s.length]) == string(name)
}
