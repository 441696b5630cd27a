package zone

import (
	"hash/maphash"

	"gslb.internal/overwatch/internal/hugepage"
)

// index finds slots by their names, by open addressing. A map would do the same; this one takes a fraction of its cache
// misses, which is most of what a query costs when there are a hundred thousand names: one for the cell, one for the slot, in
// which a name of usual length stands itself.
type index struct {
	cells []cell // a power of two of them, at most four fifths in use, so that they are few and stay in the caches
}

// seed is the same for all views, so that a hash holds for the next one too.
var seed = maphash.MakeSeed()

// cell refers to a slot: its number plus one, for which as many of the lower bits are enough as an index in the cells has, and above it a tag, bits of
// the hash that spare looking at most slots that are not meant. A free cell is 0.
type cell uint32

// makeCell refers to a slot of a name with the hash, in an index of mask+1 cells.
func makeCell(hash uint64, slot, mask uint32) cell { return cell(uint32(hash>>32)&^mask | (slot + 1)) }

// number is the slot's number plus one, 0 in a free cell.
func (c cell) number(mask uint32) uint32 { return uint32(c) & mask }

// may says whether the slot's name may have the hash.
func (c cell) may(hash uint64, mask uint32) bool { return (uint32(c)^uint32(hash>>32))&^mask == 0 }

// crowded says whether so many slots take more cells.
func crowded(slots, cells int) bool { return 5*slots > 4*cells }

func newIndex(slots []Slot, names []canonical) index {
	size := 16
	for crowded(len(slots), size) {
		size *= 2
	}
	x := index{hugepage.Make[cell](size)}
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
	for x.cells[at] != 0 {
		at = (at + 1) & mask
	}
	x.cells[at] = makeCell(hash, slot, mask)
}

// remove removes a name that is there. Cells behind it move up, so that none of them is cut off from where its search begins.
func (x index) remove(slot uint32, names []canonical) {
	home := func(slot uint32) uint32 {
		return uint32(maphash.String(seed, string(names[slot]))) & uint32(len(x.cells)-1)
	}
	mask := uint32(len(x.cells) - 1)
	at := home(slot)
	for x.cells[at].number(mask) != slot+1 {
		at = (at + 1) & mask
	}
	for next := (at + 1) & mask; x.cells[next] != 0; next = (next + 1) & mask {
		if (next-home(x.cells[next].number(mask)-1))&mask >= (next-at)&mask {
			x.cells[at] = x.cells[next]
			at = next
		}
	}
	x.cells[at] = 0
}

// find returns the slot of a canonical name, nil if there is none.
func (v *View) find(name []byte) *Slot { return v.findHashed(name, maphash.Bytes(seed, name)) }

// number is the number of a name's slot.
func (v *View) number(name canonical) (slot uint32, there bool) {
	hash, mask := maphash.String(seed, string(name)), uint32(len(v.index.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := v.index.cells[at]
		if c == 0 {
			return 0, false
		}
		if number := c.number(mask) - 1; c.may(hash, mask) && v.names[number] == name {
			return number, true
		}
	}
}

// findHashed is find with the name's hash.
func (v *View) findHashed(name []byte, hash uint64) *Slot {
	if len(v.slots) == 0 {
		return nil
	}
	mask := uint32(len(v.index.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := v.index.cells[at]
		if c == 0 {
			return nil
		}
		if number := c.number(mask) - 1; c.may(hash, mask) && v.named(number, name) {
			return &v.slots[number]
		}
	}
}

// candidate is the number plus one of the slot of the name with this hash, or of one with the same tag; 0 if there is none.
func (v *View) candidate(hash uint64) uint32 {
	mask := uint32(len(v.index.cells) - 1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		if c := v.index.cells[at]; c == 0 || c.may(hash, mask) {
			return c.number(mask)
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
