package zone

import (
	"encoding/base32"
	"encoding/binary"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"
)

// Denial is the way in which a signed zone proves that a name or a type does not exist.
type Denial uint8

// The ways of denial. NSEC costs less and lets resolvers answer for names that do not exist; NSEC3 hides the names of
// the zone from whoever asks for them one after the other. It has no iterations and no salt (RFC 9276 section 3.1).
const (
	NSEC Denial = iota
	NSEC3
)

// link is one name of a chain, with its record of denial. Only the field without ever changes.
type link struct {
	name   canonical  // of the record of denial
	prefix string     // the owner of the record, without the apex
	full   *Signature // of the record with all types
	// types is the bitmap of the types that the name can have, whatever is healthy now. full's content ends with it.
	types string
	// without has one entry for each type that was denied while the name could have it.
	without atomic.Pointer[lacking]
}

// lacking is a record of denial that leaves out a type which steering has taken away for now. It is immutable; next
// makes it a list.
type lacking struct {
	rtype uint16
	sig   *Signature
	next  *lacking
}

// deny returns the record that proves that the name does not have the type now, though it may have it at other times.
func (l *link) deny(rtype uint16) *Signature {
	for {
		first := l.without.Load()
		for left := first; left != nil; left = left.next {
			if left.rtype == rtype {
				return left.sig
			}
		}
		if !inBitmap(l.types, rtype) {
			return l.full
		}
		sig := l.leaveOut(rtype)
		if l.without.CompareAndSwap(first, &lacking{rtype, sig, first}) {
			return sig
		}
	}
}

// leaveOut makes the record of denial without a type.
func (l *link) leaveOut(rtype uint16) *Signature {
	kept := slices.DeleteFunc(typesIn(l.types), func(t uint16) bool { return t == rtype })
	content := appendBitmap([]byte(l.full.content[:len(l.full.content)-len(l.types)]), kept)
	binary.BigEndian.PutUint16(content[contentHead:], uint16(len(content)-contentHead-2))
	return &Signature{signer: l.full.signer, owner: l.full.owner, content: string(content)}
}

// touched is a name that a draft has changed, so that its place in a chain may be another.
type touched struct {
	key   string // in the chain
	owner *owner // nil for one that is gone
}

// touched lists the names that the draft has changed, in the order of the chain.
func (d *draft) touched(c *chain) []touched {
	list := make([]touched, 0, len(d.own))
	for name, o := range d.own {
		list = append(list, touched{c.keyOf(name), o})
	}
	slices.SortFunc(list, func(a, b touched) int { return strings.Compare(a.key, b.key) })
	return list
}

// makeChain makes the chain of a signed zone from that of the zone before. Names that the draft has changed, and those
// right in front of them, get other records; the signatures of these are appended to fresh.
func (d *draft) makeChain(fresh []*Signature) []*Signature {
	z, old := d.zone, d.before.chain
	c := newChain(z.apex, z.denial)
	if old == nil || d.whole {
		old = new(chain)
	}
	remake := c.merge(old, d.touched(c))
	for _, at := range remake {
		if z.makeDenial(c, at) {
			fresh = append(fresh, c.links[at].full)
		}
		if o := z.find([]byte(c.links[at].name)); o.steered {
			fresh = append(fresh, c.links[at].denials(o.answers.Load())...)
		}
	}
	c.start()
	z.chain = c
	if z.wildcard(z.find([]byte(z.apex))) == nil {
		z.star = c.starBelow(z.apex)
	}
	return fresh
}

// merge fills the chain with the names of an old one, changed as changes say. It returns the places of links whose
// record may be another, in ascending order; a link that is new has none.
func (c *chain) merge(old *chain, changes []touched) (remake []int) {
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
			around = true // the last link says which is the first
		}
		if t.owner == nil {
			continue
		}
		if types := t.owner.types(c.hashed); c.hashed || len(types) > 0 {
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

// makeDenial makes the record of the link at a place, with the types of its name and the next name. It reports whether
// the link had another record before, or none.
func (z *Zone) makeDenial(c *chain, at int) bool {
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

// starBelow returns the link that proves that there is no wildcard right below a name that has none; nil if no such
// name can be.
func (c *chain) starBelow(name canonical) *link {
	var room [maxName]byte
	if star := starBelow(room[:0], name); star != nil {
		return c.coverName(star)
	}
	return nil
}

// noWildcard returns the link that proves that there is no wildcard right below a name that has none; nil if no such
// name can be.
func (z *Zone) noWildcard(encloser *owner) *link {
	if len(encloser.name) == len(z.apex) {
		return z.star
	}
	return z.chain.starBelow(encloser.name)
}

// lacks returns the link and the record that prove that a name does not have a type now.
func (z *Zone) lacks(o *owner, rtype uint16) (*link, *Signature) {
	if l := z.chain.find(o.name); l != nil {
		return l, l.deny(rtype)
	}
	l := z.chain.coverName([]byte(o.name))
	return l, l.full
}

// hashLabel returns the first label of a hashed owner's name.
func hashLabel(hash string) string {
	return "\x20" + strings.ToLower(base32.HexEncoding.EncodeToString([]byte(hash)))
}

// types returns the types that a name can have, in ascending order, with those that signing adds. An empty non-terminal
// has none.
func (o *owner) types(hashed bool) []uint16 {
	var all []uint16
	for _, set := range o.answers.Load().sets {
		all = append(all, set.rtype)
	}
	if o.cut {
		if all = append(all, dns.TypeNS); len(all) == 1 && hashed {
			return all // nothing of it is signed
		}
	}
	for _, c := range o.answers.Load().steered {
		all = append(all, c.kind.Number)
	}
	return withSigning(all, hashed)
}

func withSigning(types []uint16, hashed bool) []uint16 {
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

// appendBitmap appends a list of types, ascending, as NSEC records have it (RFC 4034 section 4.1.2).
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

// typesIn lists the types of a bitmap in ascending order.
func typesIn(bitmap string) (types []uint16) {
	for ; len(bitmap) > 0; bitmap = bitmap[2+bitmap[1]:] {
		for at := range 8 * uint16(bitmap[1]) {
			if bitmap[2+at/8]&(0x80>>(at%8)) != 0 {
				types = append(types, uint16(bitmap[0])<<8|at)
			}
		}
	}
	return types
}

// inBitmap reports whether a bitmap has a type.
func inBitmap(bitmap string, rtype uint16) bool {
	at := int(rtype & 0xFF)
	for ; len(bitmap) > 0; bitmap = bitmap[2+bitmap[1]:] {
		if bitmap[0] == byte(rtype>>8) {
			return at/8 < int(bitmap[1]) && bitmap[2+at/8]&(0x80>>(at%8)) != 0
		}
	}
	return false
}
