package zone

import (
	"hash/maphash"
	"slices"
)

// index finds the names of a zone, by open addressing. A map would do the same; this one takes a fraction of its cache
// misses, which is most of what a query costs when there are a hundred thousand names: one for the cell, one for the
// owner, in which a name of usual length stands itself. What it finds is never changed, so a clone shares it.
type index struct {
	cells []cell // a power of two of them, at most half in use
	used  int
}

// seed is the same for all zones, so that a hash holds for the next one too.
var seed = maphash.MakeSeed()

// cell refers to a name; the upper half of the hash spares looking at most that are not meant.
type cell struct {
	tag   uint32
	below uint32 // number of names directly below
	owner *owner // nil in a free cell
}

// newIndex makes an index with room for at least that many names.
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

// at returns the cell of a name, which may be free.
func (x *index) at(name canonical) *cell {
	hash, mask := maphash.String(seed, string(name)), uint32(len(x.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := &x.cells[at]
		if c.owner == nil || c.tag == uint32(hash>>32) && c.owner.name == name {
			return c
		}
	}
}

// add adds a name that is not there.
func (x *index) add(o *owner) {
	if 2*(x.used+1) > len(x.cells) {
		wider := index{cells: make([]cell, 2*len(x.cells)), used: x.used}
		for _, c := range x.cells {
			if c.owner != nil {
				*wider.at(c.owner.name) = c
			}
		}
		*x = wider
	}
	x.used++
	*x.at(o.name) = cell{tag: uint32(maphash.String(seed, string(o.name)) >> 32), owner: o}
}

// replace puts an owner in place of the one of its name.
func (x *index) replace(o *owner) { x.at(o.name).owner = o }

// below returns the number of names directly below a name that is there.
func (x *index) below(name canonical) uint32 { return x.at(name).below }

// addBelow adds to the number of names directly below a name that is there.
func (x *index) addBelow(name canonical, by int) { x.at(name).below += uint32(by) }

// remove removes a name that is there. Cells behind it move up, so that every search still finds its cell.
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

// steered appends the names that are steered.
func (x *index) steered(to []*owner) []*owner {
	for i := range x.cells {
		if o := x.cells[i].owner; o != nil && o.steered {
			to = append(to, o)
		}
	}
	return to
}

// find returns the owner of a name in wire form and lower case, nil if there is none.
func (z *Zone) find(name []byte) *owner {
	if len(z.names.cells) == 0 {
		return nil
	}
	hash, mask := maphash.Bytes(seed, name), uint32(len(z.names.cells)-1)
	for at := uint32(hash) & mask; ; at = (at + 1) & mask {
		c := &z.names.cells[at]
		if c.owner == nil {
			return nil
		}
		if c.tag == uint32(hash>>32) && c.owner.is(name) {
			return c.owner
		}
	}
}

// is reports whether an owner has the name.
func (o *owner) is(name []byte) bool {
	if o.length == longName {
		return string(o.name) == string(name)
	}
	return string(o.short[:o.length]) == string(name)
}
