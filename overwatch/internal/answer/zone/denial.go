package zone

import (
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"
)

// Denial is the method by which a signed zone proves that a name or type does not exist.
type Denial uint8

// The methods of denial. NSEC is cheaper and lets resolvers synthesize negative answers (RFC 8198). NSEC3 prevents zone
// enumeration by simple walking. NSEC3 uses no extra iterations and no salt (RFC 9276 section 3.1).
const (
	NSEC Denial = iota
	NSEC3
)

// link is a name of a chain, with its denial record. After construction, only the field named without changes.
type link struct {
	name   canonical  // name that the denial record covers
	prefix string     // owner of the denial record, without the apex
	full   *Signature // signature of the record with all types
	// types is the bitmap of all types that the name can have, regardless of health. The content of full ends with types.
	types string
	// without is a list of denial records, each without one type of types that the name temporarily did not have.
	without atomic.Pointer[partialDenial]
}

// partialDenial is a denial record without a type that the name temporarily does not have. It is an immutable element
// of a linked list.
type partialDenial struct {
	rtype uint16
	sig   *Signature
	next  *partialDenial
}

// denialFor returns the record that proves that the name currently does not have the type.
func (l *link) denialFor(rtype uint16) *Signature {
	for {
		first := l.without.Load()
		for left := first; left != nil; left = left.next {
			if left.rtype == rtype {
				return left.sig
			}
		}
		if !bitmapHasType(l.types, rtype) {
			return l.full
		}
		sig := l.makeWithoutType(rtype)
		if l.without.CompareAndSwap(first, &partialDenial{rtype, sig, first}) {
			return sig
		}
	}
}

// makeWithoutType returns the denial record of the name without one of its types.
func (l *link) makeWithoutType(rtype uint16) *Signature {
	kept := slices.DeleteFunc(parseBitmap(l.types), func(t uint16) bool { return t == rtype })
	content := appendBitmap([]byte(l.full.content[:len(l.full.content)-len(l.types)]), kept)
	binary.BigEndian.PutUint16(content[contentHead:], uint16(len(content)-contentHead-2))
	return &Signature{signer: l.full.signer, owner: l.full.owner, content: string(content)}
}

// changedName is a name that the draft changed, added or removed.
type changedName struct {
	key   string // key in the chain
	owner *owner // nil for a removed name
}

// changedNames returns the changed names of the draft in the order of the chain.
func (d *draft) changedNames(c *chain) []changedName {
	list := make([]changedName, 0, len(d.owners))
	for name, o := range d.owners {
		list = append(list, changedName{c.keyOf(name), o})
	}
	slices.SortFunc(list, func(a, b changedName) int { return strings.Compare(a.key, b.key) })
	return list
}

// buildChain builds the chain of a signed zone from the chain of the previous zone. It creates new denial records for
// changed names and their predecessors, and appends the new signatures to fresh.
func (d *draft) buildChain(fresh []*Signature) []*Signature {
	z, old := d.zone, d.previous.chain
	c := newChain(z.apex, z.denial)
	if old == nil || d.rebuild {
		old = new(chain)
	}
	remake := c.mergeNames(old, d.changedNames(c))
	for _, at := range remake {
		if z.makeDenialRecord(c, at) {
			fresh = append(fresh, c.links[at].full)
		}
		if o := z.findOwner([]byte(c.links[at].name)); o.balanced {
			fresh = append(fresh, c.links[at].currentDenials(o.answers.Load())...)
		}
	}
	c.buildStarts()
	z.chain = c
	if z.findWildcard(z.findOwner([]byte(z.apex))) == nil {
		z.apexWildcardDenial = c.wildcardDenialBelow(z.apex)
	}
	return fresh
}

// mergeNames fills the chain with the names of an old chain and the changes. It returns the ascending indexes of the
// links that may need another record. A new link has no record yet.
func (c *chain) mergeNames(old *chain, changes []changedName) (remake []int) {
	room := len(old.keys) + len(changes)
	c.keys, c.links, c.heads = make([]string, 0, room), make([]*link, 0, room), make([]uint64, 0, room)
	take := func(from, to int) {
		c.keys, c.links = append(c.keys, old.keys[from:to]...), append(c.links, old.links[from:to]...)
		c.heads = append(c.heads, old.heads[from:to]...)
	}
	note := func(at int) {
		if len(remake) == 0 || remake[len(remake)-1] != at {
			remake = append(remake, at)
		}
	}
	from, around := 0, false
	for _, t := range changes {
		at, found := slices.BinarySearch(old.keys[from:], t.key)
		at += from
		take(from, at)
		if from = at; found {
			from++
		}
		if last := len(c.links) - 1; last >= 0 {
			note(last)
		} else {
			around = true // the last link contains the name of the first link
		}
		if t.owner == nil {
			continue
		}
		if types := t.owner.typesOfName(c.hashed); c.hashed || len(types) > 0 {
			l := &link{name: t.owner.name, types: string(appendBitmap(nil, types))}
			if found && old.links[at].types == l.types {
				l = old.links[at]
			}
			note(len(c.links))
			c.keys, c.links, c.heads = append(c.keys, t.key), append(c.links, l), append(c.heads, headOf(t.key[c.common:]))
		}
	}
	take(from, len(old.keys))
	if last := len(c.links) - 1; around && last >= 0 {
		note(last)
	}
	return remake
}

// makeDenialRecord creates the record of the link with this index, with the types of its name and the next name. It
// returns false if the record did not change.
func (z *Zone) makeDenialRecord(c *chain, at int) bool {
	l, next := c.links[at], (at+1)%len(c.links)
	prefix := string(l.name[:len(l.name)-len(z.apex)])
	rtype, head := dns.TypeNSEC, []byte(c.links[next].name)
	if c.hashed {
		prefix = hashLabel(c.keys[at])
		rtype = dns.TypeNSEC3
		head = append([]byte{dns.SHA1, 0, 0, 0, 0, byte(len(c.keys[next]))}, c.keys[next]...)
	}
	content := contentOf(rtype, z.negative.ttl, [][]byte{append(head, l.types...)})
	if l.full != nil && l.full.content == content {
		return false
	}
	l = &link{name: l.name, prefix: prefix, types: content[len(content)-len(l.types):]}
	l.full = &Signature{signer: z.signer, owner: canonical(prefix) + z.apex, content: content}
	c.links[at] = l
	return true
}

// wildcardDenialBelow returns the link that proves that name has no wildcard directly below; nil if the wildcard would
// be too long for a name. name must not have a wildcard.
func (c *chain) wildcardDenialBelow(name canonical) *link {
	var room [maxName]byte
	if star := wildcardBelow(room[:0], name); star != nil {
		return c.linkCoveringName(star)
	}
	return nil
}

// wildcardDenial returns the link that proves that the encloser has no wildcard directly below; nil if the wildcard
// would be too long for a name. encloser must not have a wildcard.
func (z *Zone) wildcardDenial(encloser *owner) *link {
	if len(encloser.name) == len(z.apex) {
		return z.apexWildcardDenial
	}
	return z.chain.wildcardDenialBelow(encloser.name)
}

// typeDenial returns the link and the record that prove that a name currently does not have a type.
func (z *Zone) typeDenial(o *owner, rtype uint16) (*link, *Signature) {
	if l := z.chain.findLink(o.name); l != nil {
		return l, l.denialFor(rtype)
	}
	l := z.chain.linkCoveringName([]byte(o.name))
	return l, l.full
}

// hashLabel returns the first label of the owner name of an NSEC3 record, in wire form.
func hashLabel(hash string) string {
	return "\x20" + strings.ToLower(base32.HexEncoding.EncodeToString([]byte(hash)))
}

// typesOfName returns the types that a name can have, ascending and including the types that signing adds. It returns
// nil for an empty non-terminal.
func (o *owner) typesOfName(hashed bool) []uint16 {
	var all []uint16
	for _, set := range o.answers.Load().sets {
		all = append(all, set.rtype)
	}
	if o.cut {
		if all = append(all, dns.TypeNS); len(all) == 1 && hashed {
			return all // a delegation without DS records has no signatures
		}
	}
	for _, c := range o.answers.Load().balanced {
		all = append(all, c.kind.Number)
	}
	return addSigningTypes(all, hashed)
}

// addSigningTypes adds RRSIG and, unless the zone uses NSEC3, NSEC to a list of types.
func addSigningTypes(types []uint16, hashed bool) []uint16 {
	if len(types) == 0 {
		return nil
	}
	types = append(types, dns.TypeRRSIG)
	if !hashed {
		types = append(types, dns.TypeNSEC)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// appendBitmap appends ascending types in the format of NSEC records (RFC 4034 section 4.1.2).
func appendBitmap(to []byte, types []uint16) []byte {
	for len(types) > 0 {
		window := types[0] >> 8
		var bits [32]byte
		length := 0
		for len(types) > 0 && types[0]>>8 == window {
			low := types[0] & 0xFF
			bits[low/8] |= 0x80 >> (low % 8)
			length = int(low/8) + 1
			types = types[1:]
		}
		to = append(append(to, byte(window), byte(length)), bits[:length]...)
	}
	return to
}

// parseBitmap returns the types of a bitmap in ascending order.
func parseBitmap(bitmap string) (types []uint16) {
	for ; len(bitmap) > 0; bitmap = bitmap[2+bitmap[1]:] {
		for at := range 8 * uint16(bitmap[1]) {
			if bitmap[2+at/8]&(0x80>>(at%8)) != 0 {
				types = append(types, uint16(bitmap[0])<<8|at)
			}
		}
	}
	return types
}

// bitmapHasType reports whether a bitmap contains a type.
func bitmapHasType(bitmap string, rtype uint16) bool {
	at := int(rtype & 0xFF)
	for ; len(bitmap) > 0; bitmap = bitmap[2+bitmap[1]:] {
		if bitmap[0] == byte(rtype>>8) {
			return at/8 < int(bitmap[1]) && bitmap[2+at/8]&(0x80>>(at%8)) != 0
		}
	}
	return false
}
