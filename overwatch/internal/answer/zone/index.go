package zone

import (
	"hash/maphash"
	"slices"
)

// index is a hash table with open addressing of the names of a zone. With 100 000 names, cache misses dominate the cost
// of a query. The index causes two: one for the cell and one for the owner, which contains names of common length.
// Owners are immutable entries, so clones share them.
type index struct {
	cells []cell // the length is a power of two; at most half of the cells are used
	used  int
}

// seed is the hash seed of all zones, so that one hash is valid for several indexes.
var seed = maphash.MakeSeed()

// cell refers to an owner. tag is the upper half of its hash, which avoids most comparisons of names.
type cell struct {
	tag   uint32
	below uint32 // number of names directly below
	owner *owner // nil in a free cell
}

// newIndex returns an index with space for the number of names.
func newIndex(names int) index {
	size := 16
	for size < 2*names {
		size *= 2
	}
	return index{cells: make([]cell, size)}
}

// clone returns a copy that shares the owners.
func (x *index) clone() index {
	return index{slices.Clone(x.cells), x.used}
}

// cellOf returns the cell of a name, which may be free.
func (x *index) cellOf(name canonical) *cell {
	hash, mask := maphash.String(seed, string(name)), uint32(len(x.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := &x.cells[at]
		if c.owner == nil || c.tag == uint32(hash>>32) && c.owner.name == name {
			return c
		}
	}
}

// add adds the owner of a name that the index does not contain.
func (x *index) add(o *owner) {
	if 2*(x.used+1) > len(x.cells) {
		wider := index{cells: make([]cell, 2*len(x.cells)), used: x.used}
		for _, c := range x.cells {
			if c.owner != nil {
				*wider.cellOf(c.owner.name) = c
			}
		}
		*x = wider
	}
	x.used++
	*x.cellOf(o.name) = cell{tag: uint32(maphash.String(seed, string(o.name)) >> 32), owner: o}
}

// replace replaces the owner of an existing name.
func (x *index) replace(o *owner) { x.cellOf(o.name).owner = o }

// below returns the number of names directly below an existing name.
func (x *index) below(name canonical) uint32 { return x.cellOf(name).below }

// addBelow changes the number of names directly below an existing name.
func (x *index) addBelow(name canonical, by int) { x.cellOf(name).below += uint32(by) }

// remove removes an existing name. Cells behind it move up, so that each search still finds its cell.
func (x *index) remove(name canonical) {
	mask := uint32(len(x.cells) - 1)
	home := func(name canonical) uint32 { return uint32(maphash.String(seed, string(name))) & mask }
	at := home(name)
	for x.cells[at].owner.name != name {
		at = (at + 1) & mask
	}
	for next := (at + 1) & mask; x.cells[next].owner != nil; next = (next + 1) & mask {
		if (next-home(x.cells[next].owner.name))&mask >= (next-at)&mask {
			x.cells[at] = x.cells[next]
			at = next
		}
	}
	x.cells[at] = cell{}
	x.used--
}

// appendBalanced appends the owners of load-balanced names.
func (x *index) appendBalanced(to []*owner) []*owner {
	for i := range x.cells {
		if o := x.cells[i].owner; o != nil && o.balanced {
			to = append(to, o)
		}
	}
	return to
}

// findOwner returns the owner of a name in wire form and lower case; nil if the name does not exist.
func (z *Zone) findOwner(name []byte) *owner {
	if len(z.names.cells) == 0 {
		return nil
	}
	hash, mask := maphash.Bytes(seed, name), uint32(len(z.names.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := &z.names.cells[at]
		if c.owner == nil {
			return nil
		}
		if c.tag == uint32(hash>>32) && c.owner.hasName(name) {
			return c.owner
		}
	}
}

// hasName reports whether the owner has the name.
func (o *owner) hasName(name []byte) bool {
	if o.length == longName {
		return string(o.name) == string(name)
	}
	return string(o.short[:o.length]) == string(name)
}
