package zone

import (
	"iter"
	"sync/atomic"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// View is everything this node is authoritative for. The zero View has no zones.
type View struct {
	index index
	slots []Slot          // one per name that exists, empty non-terminals included
	names []canonical     // of the slots; "" for one that is free
	wilds map[*Slot]*Slot // from a name to the wildcard directly below
	depth int             // labels of the longest name, or more

	places atomic.Pointer[geo.Table] // nil where no answer depends on who asks
	turns  turnNumbers               // of the names here; the Writers'

	// For With, which makes the view that follows.
	zones []*Zone     // parents first
	stars [][2]uint32 // the slots of wilds: a name's and its wildcard's
	below []uint32    // by slot: how many names are directly below
	free  []uint32    // slots without a name
}

// Zone is what the names of one zone have in common.
type Zone struct {
	apex     canonical
	parent   *Zone  // the zone of this view that the apex is cut from, or nil
	negative set    // the SOA as negative answers carry it
	signer   Signer // nil: the zone is not signed
	denial   Denial
	chain    *chain // of a signed zone
}

// Slot is one name that exists.
type Slot struct {
	answers atomic.Pointer[answers]
	zone    *Zone
	proofs  *proofs // nil where neither the zone is signed nor the one above
	turn    uint32  // index of the first of its two turns; meaningful when steered
	steered bool
	length  uint8 // of the name in short, or longName
	short   [shortName]byte
}

const (
	shortName = 34  // octets of names that a slot has room for
	longName  = 255 // length of a slot whose name is among the view's only
)

// answers holds everything that a name answers. It is immutable.
type answers struct {
	placed  *[2]placed    // by policy.Family; nil for names that answer everybody alike
	basis   *policy.Basis // what the steered answers follow from; nil where that is not kept
	number  uint32        // of the basis
	any     uint16        // the type that answers ANY (RFC 8482 section 4.1), 0 for an empty non-terminal
	steered [2]family     // by policy.Family; empty for names that are not steered
	sets    []set         // ascending by type
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

// enclose returns the slot of the name that is asked for, or of its closest encloser (RFC 4592 section 3.3.1). It is nil
// outside every zone.
func (v *View) enclose(q *Question) (slot *Slot, exact bool) {
	if slot = v.find(q.Name); slot != nil {
		q.owner = uint8(len(q.Name))
		return slot, true
	}
	name, labels := q.Name, q.Labels
	for labels > 0 {
		name = name[name[0]+1:]
		labels--
		// Nothing is that deep, so a flood of long names costs no more than one of short names.
		if labels > v.depth {
			continue
		}
		if slot = v.find(name); slot != nil {
			q.owner = uint8(len(name))
			return slot, false
		}
	}
	return nil, false
}

// slot is nil where the name does not exist; v may be nil.
func (v *View) slot(name canonical) *Slot {
	if v == nil {
		return nil
	}
	return v.find([]byte(name))
}

// Signatures is every signature that the names have needed so far, in no order.
func (v *View) Signatures() iter.Seq[*Signature] {
	return func(yield func(*Signature) bool) {
		var all []*Signature
		for i := range v.slots {
			p := v.slots[i].proofs
			if p == nil {
				continue
			}
			all = p.known.all(all[:0])
			for _, sig := range all {
				if !yield(sig) {
					return
				}
			}
		}
	}
}
