package zone

import (
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"gslb.internal/overwatch/internal/answer/geo"
	"gslb.internal/overwatch/internal/policy"
)

// View holds all authoritative zones of this node. The zero View has no zones.
type View struct {
	zones     map[string]*Zone // by apex, in canonical form
	depth     int              // number of labels of the longest apex
	regions   atomic.Pointer[geo.Table]
	rotations *rotationIndexes // shared by successive views

	// Set until ReleasePrevious.
	added         []*owner // names with load-balanced types that the previous view does not have
	replaced      []*owner // names of the previous view with load-balanced types that this view does not have
	newSignatures []*Signature
}

// Zone is a zone with its names. Only the answers of load-balanced names change, so successive views share a zone.
type Zone struct {
	apex               canonical
	names              index
	depth              int // upper bound of the number of labels of a name
	wildcards          int // number of wildcard names
	negative           set // SOA record of negative answers
	signer             Signer
	denial             Denial
	chain              *chain // nil if the zone is not signed
	apexWildcardDenial *link  // proves that the apex has no wildcard directly below; nil if it has one
	contents           *Contents
	fixed              map[canonical]staticRecords // of contents, see collectFixed; it may be shared and is never changed
	cuts               []cut                       // child zones, ascending
}

// owner is an existing name of a zone. Empty non-terminals and delegations to child zones are also owners.
type owner struct {
	answers  atomic.Pointer[answers]
	cache    *signatureCache // signatures of load-balanced answers; nil if the zone is not signed
	name     canonical
	balanced bool
	cut      bool  // the name is a delegation to a child zone, and has only DS records here
	length   uint8 // octets of short, or longName
	short    [shortName]byte
}

const (
	shortName = 41  // octets of a name that an owner can contain
	longName  = 255 // length of an owner with a longer name
)

// answers holds all answers of a name. It is immutable. The fields that most queries read are in the first 128 octets.
type answers struct {
	balanced []candidates          // one for each load-balanced type
	variants *[]variantSet         // by index in balanced; nil if all clients receive the same answers
	input    *policy.DecisionInput // input of the load-balanced answers; nil if it was not stored
	any      uint16                // type that answers ANY (RFC 8482 section 4.1); 0 for an empty non-terminal
	storage  [2]candidates         // memory of balanced
	sets     []set                 // static records, ascending by type
}

// noAnswers contains the answers of an empty non-terminal, which has no records.
var noAnswers = new(answers)

// set returns the static RRset of a type; nil if missing.
func (a *answers) set(rtype uint16) *set {
	for i := range a.sets {
		if a.sets[i].rtype == rtype {
			return &a.sets[i]
		}
	}
	return nil
}

// zoneOf returns the zone of a name; nil if the name is outside all zones. The name is in wire form and lower case, and
// labels is its number of labels.
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

// findEnclosing returns the zone of the question, and the owner of its name (exact is true) or of its closest encloser
// (RFC 4592 section 3.3.1). It returns nil if the name is outside all zones. It sets the owner length of q.
func (v *View) findEnclosing(q *Question) (z *Zone, o *owner, exact bool) {
	if z = v.zoneOf(q.Name, q.Labels); z == nil {
		return nil, nil, false
	}
	o, exact = z.findEnclosing(q.Name, q.Labels)
	q.ownerLength = uint8(len(o.name))
	return z, o, exact
}

// findEnclosing returns the owner of a name of the zone, or of its closest encloser. labels is the name's number of
// labels.
func (z *Zone) findEnclosing(name []byte, labels int) (o *owner, exact bool) {
	for exact = true; ; exact = false {
		// Names deeper than the zone do not exist, so a flood of long names costs as much as a flood of short names.
		if labels <= z.depth {
			if o = z.findOwner(name); o != nil {
				return o, exact
			}
		}
		name = name[name[0]+1:]
		labels--
	}
}

// parentZone returns the zone that delegates to z; nil if the view does not contain one.
func (v *View) parentZone(z *Zone) *Zone {
	if z.apex == rootName {
		return nil
	}
	return v.zoneOf([]byte(z.apex.parent()), z.apex.countLabels()-1)
}

// findWildcard returns the wildcard directly below a name; nil if missing.
func (z *Zone) findWildcard(encloser *owner) *owner {
	var room [maxName]byte
	if name := wildcardBelow(room[:0], encloser.name); z.wildcards > 0 && name != nil {
		return z.findOwner(name)
	}
	return nil
}

// wildcardBelow appends the name of the wildcard directly below name; nil if it exceeds maxName.
func wildcardBelow(to []byte, name canonical) []byte {
	if 2+len(name) > maxName {
		return nil
	}
	return append(append(to, "\x01*"...), name...)
}

// findOwner returns a name and its zone; nil if the name does not exist.
func (v *View) findOwner(name canonical) (*Zone, *owner) {
	z := v.zoneOf([]byte(name), name.countLabels())
	if z == nil {
		return nil, nil
	}
	o := z.findOwner([]byte(name))
	if o == nil {
		return nil, nil
	}
	return z, o
}

// ZoneOf returns the apex of the zone that contains a name in zone-file form. The apex is in lower case and without the
// final dot.
func (v *View) ZoneOf(name string) (apex string, ok bool) {
	key, err := canonicalName(name)
	if err != nil {
		return "", false
	}
	z := v.zoneOf([]byte(key), key.countLabels())
	if z == nil {
		return "", false
	}
	return strings.TrimSuffix(z.apex.String(), "."), true
}

// TypesOf returns the types of the records of a name in zone-file form: types with fixed records, and types whose
// records a decision selects. A wildcard has no records of other names, and an empty non-terminal has none.
func (v *View) TypesOf(name string) (fixed, balanced []uint16) {
	key, err := canonicalName(name)
	if err != nil {
		return nil, nil
	}
	_, o := v.findOwner(key)
	if o == nil {
		return nil, nil
	}
	a := o.answers.Load()
	for i := range a.sets {
		fixed = append(fixed, a.sets[i].rtype)
	}
	for i := range a.balanced {
		balanced = append(balanced, a.balanced[i].kind.Number)
	}
	return fixed, balanced
}

// Signatures yields every existing signature of the view, in no particular order.
func (v *View) Signatures() iter.Seq[*Signature] {
	return func(yield func(*Signature) bool) {
		for _, z := range v.zones {
			if z.signer != nil && !z.eachSignature(yield) {
				return
			}
		}
	}
}

// eachSignature yields the signatures of a signed zone. It returns false if yield returned false.
func (z *Zone) eachSignature(yield func(*Signature) bool) bool {
	var room []*Signature
	for _, c := range z.names.cells {
		if c.owner == nil {
			continue
		}
		room = c.owner.cache.appendAll(room[:0])
		answers := c.owner.answers.Load()
		for _, set := range answers.sets {
			room = append(room, set.sig)
		}
		// The cache is shared with the owner of another view, which may have trimmed it according to its own answers.
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
