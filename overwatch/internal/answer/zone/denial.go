package zone

import (
	"encoding/base32"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Denial is how a signed zone proves what it does not have.
type Denial uint8

// The ways of denial. NSEC costs less and lets resolvers answer for names that do not exist; NSEC3 hides the names of the
// zone from whoever asks for them one after the other. It has no iterations and no salt (RFC 9276 section 3.1).
const (
	NSEC Denial = iota
	NSEC3
)

// link is one name of a chain. Its records of denial are RRsets of one record each, so their signatures hold them too.
type link struct {
	prefix string     // the owner of the record, without the apex
	full   *Signature // says every type that the name can have, whatever is healthy now
	types  int        // where in full's content the list of types begins
	// without says all but the type of one address family, by policy.Family, for when the name has no address of it to
	// give. It is nil until that is so.
	without [2]atomic.Pointer[Signature]
	known   *signatures
	name    canonical // whose it is
	cutting bool      // it is of the cut at the name, which is the apex of a zone below

	replaced bool // the chain of a later view has another in its place; With's
}

// cut is what the zone above has at the apex of a zone.
type cut struct {
	ds   *set // nil: the zone is not signed
	link *link
}

// proofs is what a name has in a signed zone, besides its answers.
type proofs struct {
	name  canonical
	known *signatures
	cut   *cut  // at the apex of a zone that a signed one is above; else nil
	link  *link // in the zone's chain; nil for what is not in it
	gap   *link // what proves that a name that is not in the chain has nothing
	star  *link // what proves that no wildcard is directly below; nil if there is one
}

// deny picks the record that proves that the name does not have the type now, though it may have it at other times.
func (l *link) deny(rtype uint16) *Signature {
	f := policy.IPv4
	switch rtype {
	case dns.TypeA:
	case dns.TypeAAAA:
		f = policy.IPv6
	default:
		return l.full
	}
	if sig := l.without[f].Load(); sig != nil {
		return sig
	}
	return l.leaveOut(f, rtype)
}

// leaveOut makes the record that does not say the type. Both address types are in the first window of the list.
func (l *link) leaveOut(f policy.Family, rtype uint16) *Signature {
	sig := l.full
	content := []byte(sig.content)
	if list := content[l.types:]; len(list) > 0 && list[0] == 0 && rtype/8 < uint16(list[1]) && list[2+rtype/8]&(0x80>>(rtype%8)) != 0 {
		list[2+rtype/8] &^= 0x80 >> (rtype % 8)
		sig = l.known.at(sig.signer, sig.owner, string(content))
	}
	l.without[f].Store(sig)
	return sig
}

// linking is a name on its way into a chain.
type linking struct {
	*proofs
	into  **link // where its link goes
	types []uint16
	key   string
}

// link builds the denial of a zone from its names, with all their records, and the apexes of the zones below it.
func (z *Zone) link(names, cuts []*name) {
	c := &chain{hashed: z.denial == NSEC3}
	all := make([]linking, 0, len(names)+len(cuts))
	for _, n := range names {
		if types := n.types(c.hashed); c.hashed || len(types) > 0 {
			all = append(all, linking{proofs: n.proofs, into: &n.proofs.link, types: types})
		}
	}
	for _, n := range cuts {
		all = append(all, linking{proofs: n.proofs, into: &n.proofs.cut.link, types: n.proofs.cut.types(c.hashed)})
	}
	for i := range all {
		all[i].key = c.keyOf(all[i].name)
	}
	slices.SortFunc(all, func(a, b linking) int { return strings.Compare(a.key, b.key) })
	for i := range all {
		n, next := &all[i], &all[(i+1)%len(all)]
		l := &link{known: n.known, name: n.name, cutting: n.into != &n.link}
		z.say(c, l, n.key, appendBitmap(nil, n.types), next.name, next.key)
		*n.into = l
		c.keys, c.links = append(c.keys, n.key), append(c.links, l)
	}
	c.seal(z.apex)
	z.chain = c
	for _, n := range names {
		n.proofs.find(c, n.wild != nil)
	}
}

// find looks up what stays the same for all questions about a name that is in none of the chain's records, or below it.
func (p *proofs) find(c *chain, wild bool) {
	if p.link == nil { // an empty non-terminal, for NSEC
		p.gap = c.coverName([]byte(p.name))
	}
	if !wild && 2+len(p.name) <= maxName {
		p.star = c.coverName([]byte("\x01*" + p.name))
	}
}

// say makes the record of a link that has the key in a chain: which types its name has, as a bitmap, and which name comes next.
func (z *Zone) say(c *chain, l *link, key string, types []byte, next canonical, nextKey string) {
	l.prefix = string(l.name[:len(l.name)-len(z.apex)])
	rtype, head := dns.TypeNSEC, []byte(next)
	if c.hashed {
		l.prefix = hashLabel(key)
		rtype = dns.TypeNSEC3
		head = append([]byte{dns.SHA1, 0, 0, 0, 0, byte(len(nextKey))}, nextKey...)
	}
	l.types = fixedPart + len(head)
	l.full = l.known.at(z.signer, canonical(l.prefix)+z.apex, contentOf(rtype, z.negative.ttl, [][]byte{append(head, types...)}))
}

// hashLabel is the first label of a hashed owner's name.
func hashLabel(hash string) string {
	return "\x20" + strings.ToLower(base32.HexEncoding.EncodeToString([]byte(hash)))
}

// types are those that a name can have, in ascending order, with those that signing brings along. An empty non-terminal
// has none.
func (n *name) types(hashed bool) []uint16 {
	var all []uint16
	for _, rr := range n.records {
		all = append(all, rr.Header().Rrtype)
	}
	if n.steered {
		all = append(all, dns.TypeA, dns.TypeAAAA)
	}
	return withSigning(all, hashed)
}

// types are those of a delegation in the zone above.
func (c *cut) types(hashed bool) []uint16 {
	if c.ds == nil && hashed {
		return []uint16{dns.TypeNS} // nothing of it is signed
	}
	all := []uint16{dns.TypeNS}
	if c.ds != nil {
		all = append(all, dns.TypeDS)
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

// record is the one record of an RRset, for the slow path.
func (s *Signature) record(owner string) (dns.RR, error) {
	data := []byte(s.content[fixedPart:])
	header := dns.RR_Header{Name: owner, Rrtype: s.rtype(), Class: dns.ClassINET, Ttl: s.ttl(), Rdlength: uint16(len(data))}
	rr, _, err := dns.UnpackRRWithHeader(header, data, 0)
	return rr, err
}
