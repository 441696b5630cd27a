package zone

import (
	"encoding/binary"
)

// maxProofs bounds the records of denial in one answer: for the closest encloser, the name below it, and the wildcard
// (RFC 5155 section 7.2).
const maxProofs = 3

// reply is an answer while it is appended. It stays on the stack.
type reply struct {
	msg      []byte
	start    int // where the answer begins
	q        *Question
	view     *View
	zone     *Zone
	signed   bool   // signatures and proofs go with it
	encloser *owner // of a name that a wildcard answers for, else nil
	answer   Answer

	full     bool // something did not fit
	unsigned bool // a signature could not be made

	proved [maxProofs]*link
	proofs int
}

// finish returns the answer, and removes its records if some did not fit or could not be signed.
func (r *reply) finish() ([]byte, Answer) {
	switch {
	case r.unsigned:
		return r.msg[:r.start], Answer{Kind: Failed}
	case r.full:
		return r.msg[:r.start], Answer{Kind: r.answer.Kind, Truncated: true, Scope: r.answer.Scope}
	}
	return r.msg, r.answer
}

// room reports whether so many octets more fit. If not, the answer is full, and nothing more is appended.
func (r *reply) room(octets int) bool {
	if r.full || octets > cap(r.msg)-len(r.msg) {
		r.full = true
		return false
	}
	return true
}

// set appends the packed records of a set.
func (r *reply) set(s *set) {
	if !r.room(len(s.wire)) {
		return
	}
	at := len(r.msg)
	r.msg = append(r.msg, s.wire...)
	point(r.msg[at:], s.pointers, len(r.q.Name), len(r.zone.apex))
}

// signature appends the signatures of an RRset with the TTL of its records, and returns how many there are. The
// owner is the question's name, or the prefix in front of the apex.
func (r *reply) signature(s *Signature, prefix string, question bool, ttl uint32) (count uint16) {
	m := s.current()
	if m == nil {
		r.unsigned = true
		return 0
	}
	each := int(m.each)
	for wire := m.wire(); len(wire) > 0; wire = wire[each:] {
		if !r.owner(prefix, question, each) {
			return count
		}
		r.msg = append(r.msg, wire[:each]...)
		binary.BigEndian.PutUint32(r.msg[len(r.msg)-each+4:], ttl)
		count++
	}
	return count
}

// owner appends an owner's name, if the rest of its record, of so many octets, fits behind it.
func (r *reply) owner(prefix string, question bool, rest int) bool {
	apex, name := len(r.zone.apex), r.q.Name
	if !r.room(len(prefix) + 2 + rest) {
		return false
	}
	if question || len(prefix)+apex == len(name) && string(name[:len(prefix)]) == prefix {
		r.msg = binary.BigEndian.AppendUint16(r.msg, questionName)
		return true
	}
	r.msg = append(r.msg, prefix...)
	if apex == 1 {
		r.msg = append(r.msg, 0)
	} else {
		r.msg = binary.BigEndian.AppendUint16(r.msg, uint16(pointerFlag|headerSize+len(name)-apex))
	}
	return true
}

// deny appends the SOA of a negative answer.
func (r *reply) deny(kind Kind) {
	r.answer.Kind = kind
	r.set(&r.zone.negative)
	r.answer.Authority++
	if r.signed {
		r.answer.Authority += r.signature(r.zone.negative.sig, "", false, r.zone.negative.ttl)
	}
}

// prove appends a record of denial with its signatures, unless one of its name has been appended: two would be one
// RRset. The signatures' owners point to the record's where they can.
func (r *reply) prove(l *link, p *Signature) {
	for _, there := range r.proved[:r.proofs] {
		if there == l {
			return
		}
	}
	r.proved[r.proofs] = l
	r.proofs++
	m := p.current()
	if m == nil {
		r.unsigned = true
		return
	}
	at, sigs := len(r.msg), m.wire()
	if !r.owner(l.prefix, false, len(p.content)+len(sigs)+2*len(sigs)/int(m.each)) {
		return
	}
	written := r.msg[at] < pointerFlag>>8 && l.prefix != "" && at <= maxPointer
	r.msg = append(r.msg, p.content...)
	r.answer.Authority++
	for wire := sigs; len(wire) > 0; wire = wire[m.each:] {
		if written {
			r.msg = binary.BigEndian.AppendUint16(r.msg, uint16(pointerFlag|at))
		} else if !r.owner(l.prefix, false, len(wire)) {
			return
		}
		r.msg = append(r.msg, wire[:m.each]...)
		r.answer.Authority++
	}
}

// nameError answers that neither the name nor a wildcard in its place exists (RFC 4035 section 3.1.3.2, RFC 5155
// section 7.2.2).
func (r *reply) nameError(encloser *owner) {
	r.deny(NXDomain)
	if !r.signed {
		return
	}
	r.encloser = encloser
	r.proveEncloser()
	r.cover()
	if star := r.zone.noWildcard(encloser); star != nil {
		r.prove(star, star.full)
	}
}

// proveEncloser proves that the closest encloser exists, which is needed only where the chain is hashed.
func (r *reply) proveEncloser() {
	if r.zone.chain.hashed {
		l := r.zone.chain.find(r.encloser.name)
		r.prove(l, l.full)
	}
}

// noWildcard returns the link that proves that there is no wildcard right below a name that has none; nil if no such
// name can be.
func (z *Zone) noWildcard(encloser *owner) *link {
	if len(encloser.name) == len(z.apex) {
		return z.star
	}
	return z.chain.starBelow(encloser.name)
}

// noData answers that a name, or the wildcard in its place, does not have the type (RFC 4035 sections 3.1.3.1 and
// 3.1.3.4, RFC 5155 sections 7.2.3 and 7.2.5).
func (r *reply) noData(o *owner) {
	r.deny(NoData)
	if !r.signed {
		return
	}
	r.prove(r.zone.lacks(o, r.q.Type))
	if r.encloser == nil {
		return
	}
	r.proveEncloser()
	r.cover()
}

// lacks returns the link and the record that prove that a name does not have a type now.
func (z *Zone) lacks(o *owner, rtype uint16) (*link, *Signature) {
	if l := z.chain.find(o.name); l != nil {
		return l, l.deny(rtype)
	}
	l := z.chain.coverName([]byte(o.name))
	return l, l.full
}

// expanded proves, for an answer from a wildcard, that the name itself does not exist (RFC 4035 section 3.1.3.3, RFC
// 5155 section 7.2.6).
func (r *reply) expanded() {
	if r.encloser != nil {
		r.cover()
	}
}

// cover proves that the name below the encloser, on the way to the question's, does not exist.
func (r *reply) cover() {
	name := r.q.Name
	if r.zone.chain.hashed {
		name = nextCloser(name, len(r.encloser.name))
	}
	l := r.zone.chain.coverName(name)
	r.prove(l, l.full)
}

// nextCloser returns the ancestor of a name, or the name itself, that is one label longer than its encloser of so many
// octets.
func nextCloser(name []byte, encloser int) []byte {
	for len(name)-int(name[0])-1 > encloser {
		name = name[name[0]+1:]
	}
	return name
}
