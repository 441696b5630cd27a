package zone

import "sync/atomic"

// View is everything this node is authoritative for. The zero View has no zones.
type View struct {
	names map[canonical]*Slot // every name that exists, empty non-terminals included
	depth int                 // labels of the longest name
}

// Zone is what the names of one zone have in common.
type Zone struct {
	apex     canonical
	parent   *Zone // the zone of this view that the apex is cut from, or nil
	negative set   // the SOA as negative answers carry it
}

// Slot is one name that exists.
type Slot struct {
	name    canonical
	zone    *Zone
	wild    *Slot  // the wildcard directly below, or nil
	turn    uint32 // index of the first of its two turns; meaningful when steered
	steered bool
	answers atomic.Pointer[answers]
}

// answers is what a name answers; immutable.
type answers struct {
	steered [2]family // by policy.Family; empty for names that are not steered
	sets    []set     // ascending by type
	any     uint16    // the type that answers ANY (RFC 8482 section 4.1), 0 for an empty non-terminal
}

// set finds the RRset of a type, nil if there is none.
func (a *answers) set(rtype uint16) *set {
	for i := range a.sets {
		if a.sets[i].rtype == rtype {
			return &a.sets[i]
		}
	}
	return nil
}

// find returns the slot of a canonical name, or of its closest encloser (RFC 4592 section 3.3.1). It is nil outside
// every zone. labels is how many labels the name has.
func (v *View) find(name []byte, labels int) (slot *Slot, exact bool) {
	if slot = v.names[canonical(name)]; slot != nil {
		return slot, true
	}
	for labels > 0 {
		name = name[name[0]+1:]
		labels--
		// Nothing is that deep, so a flood of long names costs no more than one of short names.
		if labels > v.depth {
			continue
		}
		if slot = v.names[canonical(name)]; slot != nil {
			return slot, false
		}
	}
	return nil, false
}
