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
		if name != "" {
			x.add(name, uint32(i))
		}
	}
	return x
}

// add adds a name that is not there; a cell must be free.
func (x index) add(name canonical, slot uint32) {
	hash, mask := maphash.String(seed, string(name)), uint32(len(x.cells)-1)
	at := uint32(hash) & mask
	for x.cells[at].slot != 0 {
		at = (at + 1) & mask
	}
	x.cells[at] = cell{uint32(hash >> 32), slot + 1}
}

// remove removes a name that is there. Cells behind it move up, so that none of them is cut off from where its search begins.
func (x index) remove(slot uint32, names []canonical) {
	home := func(slot uint32) uint32 {
		return uint32(maphash.String(seed, string(names[slot]))) & uint32(len(x.cells)-1)
	}
	mask := uint32(len(x.cells) - 1)
	at := home(slot)
	for x.cells[at].slot != slot+1 {
		at = (at + 1) & mask
	}
	for next := (at + 1) & mask; x.cells[next].slot != 0; next = (next + 1) & mask {
		if (next-home(x.cells[next].slot-1))&mask >= (next-at)&mask {
			x.cells[at] = x.cells[next]
			at = next
		}
	}
	x.cells[at] = cell{}
}

// find returns the slot of a name in wire form and lower case, nil if there is none.
func (v *View) find(name []byte) *Slot {
	if len(v.slots) == 0 {
		return nil
	}
	hash, mask := maphash.Bytes(seed, name), uint32(len(v.index.cells)-1)
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

// number is the number of a name's slot.
func (v *View) number(name canonical) (slot uint32, there bool) {
	hash, mask := maphash.String(seed, string(name)), uint32(len(v.index.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := v.index.cells[at]
		if c.slot == 0 {
			return 0, false
		}
		if c.tag == uint32(hash>>32) && v.names[c.slot-1] == name {
			return c.slot - 1, true
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
