package zone

import (
	"iter"
	"slices"
	"sync/atomic"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// View is everything this node is authoritative for. The zero View has no zones.
type View struct {
	zones  map[string]*Zone // by apex, in canonical form
	depth  int              // labels of the longest apex
	places atomic.Pointer[geo.Table]
	turns  *turnNumbers // of all names; views that follow each other share them

	// Until the view is in force.
	added    []*owner // names whose types the view before does not steer
	replaced []*owner // names of the view before whose types are not steered here
	fresh    []*Signature
}

// Zone is one zone with its names. Only the answers of its steered names ever change, so successive views may share it.
type Zone struct {
	apex      canonical
	names     index
	depth     int // labels of the longest name, or more
	wildcards int // how many of the names are wildcards
	negative  set // the SOA as negative answers carry it
	signer    Signer
	denial    Denial
	chain     *chain // of a signed zone
	star      *link  // proves that there is no wildcard right below the apex; nil if there is one
	contents  *Contents
	cuts      []cut // ascending
}

// owner is one name that exists in a zone. Empty non-terminals, and the apexes of zones below, are owners too.
type owner struct {
	answers atomic.Pointer[answers]
	cache   *signatureCache // of its addresses; nil where the zone is not signed
	name    canonical
	steered bool
	cut     bool  // the name is the apex of a zone below, and has nothing but its DS records here
	length  uint8 // of the name in short, or longName
	short   [shortName]byte
}

const (
	shortName = 41  // octets of names that an owner has room for
	longName  = 255 // length of an owner that has no room for its name
)

// answers holds everything that a name answers. It is immutable. What most queries need is in its first 128 octets.
type answers struct {
	steered []candidates  // one for each type that the name is steered with; none for names that are not
	placed  *[]placed     // by index in steered; nil for names that answer everybody alike
	basis   *policy.Basis // of the steered answers; nil where it is not kept
	any     uint16        // the type that answers ANY (RFC 8482 section 4.1), 0 for an empty non-terminal
	room    [2]candidates // of steered
	sets    []set         // ascending by type
}

// noAnswers is the answers of an empty non-terminal.
var noAnswers = new(answers)

// set returns the RRset of a type, nil if there is none.
func (a *answers) set(rtype uint16) *set {
	for i := range a.sets {
		if a.sets[i].rtype == rtype {
			return &a.sets[i]
		}
	}
	return nil
}

// zoneOf returns the zone that a name of so many labels belongs to, nil outside all. The name is in wire form and lower
// case.
func (v *View) zoneOf(name []byte, labels int) *Zone {
	for ; labels > v.depth; labels-- {
		name = name[name[0]+1:]
	}
	for {
		if z := v.zones[string(name)]; z != nil {
			return z
		}
		if len(name) <= 1 {
			return nil
		}
		name = name[name[0]+1:]
	}
}

// enclose returns the zone of the question, and the owner of its name or of the closest encloser (RFC 4592 section
// 3.3.1); exact reports the former. The zone is nil outside every zone.
func (v *View) enclose(q *Question) (z *Zone, o *owner, exact bool) {
	if z = v.zoneOf(q.Name, q.Labels); z == nil {
		return nil, nil, false
	}
	o, exact = z.enclose(q.Name, q.Labels)
	q.owner = uint8(len(o.name))
	return z, o, exact
}

// enclose returns the owner of a name of the zone that has so many labels, or of its closest encloser.
func (z *Zone) enclose(name []byte, labels int) (o *owner, exact bool) {
	for exact = true; ; exact = false {
		// Nothing is that deep, so a flood of long names costs no more than one of short names.
		if labels <= z.depth {
			if o = z.find(name); o != nil {
				return o, exact
			}
		}
		name = name[name[0]+1:]
		labels--
	}
}

// above returns the zone that a zone is cut from, nil if there is none.
func (v *View) above(z *Zone) *Zone {
	if z.apex == rootName {
		return nil
	}
	return v.zoneOf([]byte(z.apex.parent()), z.apex.labels()-1)
}

// wildcard returns the wildcard right below a name of the zone, nil if there is none.
func (z *Zone) wildcard(encloser *owner) *owner {
	var room [maxName]byte
	if name := starBelow(room[:0], encloser.name); z.wildcards > 0 && name != nil {
		return z.find(name)
	}
	return nil
}

// starBelow appends the name of the wildcard right below another, nil if that is too long for a name.
func starBelow(to []byte, name canonical) []byte {
	if 2+len(name) > maxName {
		return nil
	}
	return append(append(to, "\x01*"...), name...)
}

// owner returns a name with its zone. Both are nil where the name does not exist.
func (v *View) owner(name canonical) (*Zone, *owner) {
	z := v.zoneOf([]byte(name), name.labels())
	if z == nil {
		return nil, nil
	}
	o := z.find([]byte(name))
	if o == nil {
		return nil, nil
	}
	return z, o
}

// Signatures yields every signature that the names have needed so far, in no order.
func (v *View) Signatures() iter.Seq[*Signature] {
	return func(yield func(*Signature) bool) {
		for _, z := range v.zones {
			if z.signer != nil && !z.eachSignature(yield) {
				return
			}
		}
	}
}

// eachSignature visits the signatures of a signed zone until yield returns false, which it returns then.
func (z *Zone) eachSignature(yield func(*Signature) bool) bool {
	var room []*Signature
	for _, c := range z.names.cells {
		if c.owner == nil {
			continue
		}
		room = c.owner.cache.all(room[:0])
		answers := c.owner.answers.Load()
		for _, set := range answers.sets {
			room = append(room, set.sig)
		}
		// The owner of another view may have trimmed the cache, which both have, by its own answers.
		answers.eachCandidates(func(in *candidates) {
			for _, sig := range in.signatures() {
				if !slices.Contains(room, sig) {
					room = append(room, sig)
				}
			}
		})
		for _, sig := range room {
			if !yield(sig) {
				return false
			}
		}
	}
	for _, l := range z.chain.links {
		if !yield(l.full) {
			return false
		}
		for left := l.without.Load(); left != nil; left = left.next {
			if !yield(left.sig) {
				return false
			}
		}
	}
	return true
}
