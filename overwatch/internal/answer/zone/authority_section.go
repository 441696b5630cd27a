package zone

import (
	"encoding/binary"
)

// maxProofs is the largest number of denial records in an answer: one for each alias from a wildcard, and for the last
// name the records of its closest encloser, of the next closer name and of the wildcard (RFC 5155 section 7.2).
const maxProofs = MaxAliases + 3

// proofs is the set of links with denial records in the authority section.
type proofs struct {
	links [maxProofs]*link
	count int
}

func (p *proofs) list() []*link { return p.links[:p.count] }

// add adds a link. It returns false if the set already contains the link.
func (p *proofs) add(l *link) bool {
	for _, there := range p.list() {
		if there == l {
			return false
		}
	}
	p.links[p.count] = l
	p.count++
	return true
}

// missingType is an owner (of a name or of its wildcard) and a type that the owner does not have.
type missingType struct {
	owner *owner
	rtype uint16
}

// denyType makes the answer negative: the name does not have the type.
func (r *reply) denyType(o *owner, rtype uint16) {
	r.answer.Kind, r.missing = NoData, missingType{o, rtype}
}

// appendAuthority appends the authority section: denial records for names that a wildcard matched, and, in a negative
// answer, the SOA record and the proof that the last name or type does not exist.
func (r *reply) appendAuthority() {
	switch r.answer.Kind {
	case Positive:
		r.proveExpansions(nil)
	case NXDomain:
		r.proveExpansions(nil)
		r.appendSOA()
		if r.signed {
			r.proveNoName()
		}
	case NoData:
		if !r.signed {
			r.appendSOA()
			return
		}
		l, denial := r.zone.typeDenial(r.missing.owner, r.missing.rtype)
		if denial == l.full {
			r.proveExpansions(nil)
		} else {
			r.proveExpansions(l)
		}
		r.appendSOA()
		r.proveNoType(l, denial)
	}
}

// proveExpansions appends the denial records that wildcard matches need. It omits the record of except, because the
// answer contains another record of that link with fewer types: the two would form one RRset.
func (r *reply) proveExpansions(except *link) {
	if r.proofs.count == 0 {
		return
	}
	needed := r.proofs
	r.proofs = proofs{}
	for _, l := range needed.list() {
		if l != except {
			r.appendDenial(l, l.full)
		}
	}
}

// appendSOA appends the SOA record of a negative answer, with its signatures.
func (r *reply) appendSOA() {
	negative := &r.zone.negative
	if r.hasRoom(len(negative.wire)) {
		r.appendPacked(negative)
	}
	r.answer.Authority++
	if !r.signed {
		return
	}
	m := negative.sig.currentRecords()
	if m == nil {
		r.unsigned = true
		return
	}
	each := int(m.each)
	for wire := m.wire(); len(wire) > 0; wire = wire[each:] {
		if !r.appendOwner("", each) {
			return
		}
		r.msg = append(r.msg, wire[:each]...)
		binary.BigEndian.PutUint32(r.msg[len(r.msg)-each+4:], negative.ttl)
		r.answer.Authority++
	}
}

// appendOwner appends an owner name: prefix and the apex. rest is the length of the rest of the record in octets. It
// returns false if the record does not fit.
func (r *reply) appendOwner(prefix string, rest int) bool {
	apex, name := len(r.zone.apex), r.q.Name
	if !r.hasRoom(len(prefix) + 2 + rest) {
		return false
	}
	if len(prefix)+apex == len(name) && string(name[:len(prefix)]) == prefix {
		r.msg = binary.BigEndian.AppendUint16(r.msg, questionName)
		return true
	}
	r.msg = append(r.msg, prefix...)
	if apex == 1 {
		r.msg = append(r.msg, 0)
	} else {
		r.msg = binary.BigEndian.AppendUint16(r.msg, r.apexPointer())
	}
	return true
}

// appendDenial appends a denial record with its signatures, unless the answer already contains a record of the link.
// The owners of the signatures are pointers to the owner of the record if possible.
func (r *reply) appendDenial(l *link, denial *Signature) {
	if !r.proofs.add(l) {
		return
	}
	m := denial.currentRecords()
	if m == nil {
		r.unsigned = true
		return
	}
	at, sigs := len(r.msg), m.wire()
	if !r.appendOwner(l.prefix, len(denial.content)+len(sigs)+2*len(sigs)/int(m.each)) {
		return
	}
	written := r.msg[at] < pointerFlag>>8 && l.prefix != "" && at <= maxPointer
	r.msg = append(r.msg, denial.content...)
	r.answer.Authority++
	for wire := sigs; len(wire) > 0; wire = wire[m.each:] {
		if written {
			r.msg = binary.BigEndian.AppendUint16(r.msg, uint16(pointerFlag|at))
		} else if !r.appendOwner(l.prefix, len(wire)) {
			return
		}
		r.msg = append(r.msg, wire[:m.each]...)
		r.answer.Authority++
	}
}

// proveNoName proves that neither the last name of the alias chain nor a matching wildcard exists (RFC 4035 section
// 3.1.3.2, RFC 5155 section 7.2.2).
func (r *reply) proveNoName() {
	r.proveEncloser()
	r.proveCover()
	if star := r.zone.wildcardDenial(r.encloser); star != nil {
		r.appendDenial(star, star.full)
	}
}

// proveNoType proves that the last name of the alias chain, or the wildcard that matches it, does not have the type
// (RFC 4035 sections 3.1.3.1 and 3.1.3.4, RFC 5155 sections 7.2.3 and 7.2.5). l and denial belong to the name that
// lacks the type.
func (r *reply) proveNoType(l *link, denial *Signature) {
	r.appendDenial(l, denial)
	if r.encloser != nil {
		r.proveEncloser()
		r.proveCover()
	}
}

// proveEncloser proves that the closest encloser exists. Only NSEC3 needs this proof.
func (r *reply) proveEncloser() {
	if r.zone.chain.hashed {
		l := r.zone.chain.findLink(r.encloser.name)
		r.appendDenial(l, l.full)
	}
}

// proveCover proves that the next closer name does not exist (RFC 5155 section 1.3).
func (r *reply) proveCover() {
	l := r.nextCloserDenial()
	r.appendDenial(l, l.full)
}

// nextCloserDenial returns the link that proves that the next closer name does not exist.
func (r *reply) nextCloserDenial() *link {
	name := r.name
	if r.zone.chain.hashed {
		name = nextCloser(name, len(r.encloser.name))
	}
	return r.zone.chain.linkCoveringName(name)
}

// nextCloser returns the next closer name: the ancestor of name, or name itself, that is one label longer than its
// closest encloser. encloser is the length of the closest encloser in octets.
func nextCloser(name []byte, encloser int) []byte {
	for len(name)-int(name[0])-1 > encloser {
		name = name[name[0]+1:]
	}
	return name
}
