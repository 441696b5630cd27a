package zone

import (
	"encoding/binary"
)

// maxProofs bounds the records of denial in one answer: one for each alias that a wildcard gave, and for the last name
// those for its closest encloser, the name below the encloser, and the wildcard (RFC 5155 section 7.2).
const maxProofs = MaxAliases + 3

// proofs is the list of links whose records of denial the authority section has.
type proofs struct {
	links [maxProofs]*link
	count int
}

func (p *proofs) list() []*link { return p.links[:p.count] }

// add adds a link. It returns false if the link is in the list already.
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

// denied is a name, or the wildcard in its place, and a type that the name does not have.
type denied struct {
	owner *owner
	rtype uint16
}

// denyType makes the answer negative: the name does not have the type.
func (r *reply) denyType(o *owner, rtype uint16) {
	r.answer.Kind, r.denied = NoData, denied{o, rtype}
}

// appendAuthority appends the authority section: proofs for the names that wildcards gave, and the SOA of a negative
// answer with the proof that the last name or its type does not exist.
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
		l, denial := r.zone.lacks(r.denied.owner, r.denied.rtype)
		if denial == l.full {
			r.proveExpansions(nil)
		} else {
			r.proveExpansions(l)
		}
		r.appendSOA()
		r.proveNoType(l, denial)
	}
}

// proveExpansions appends the records of denial that the answer section needs. It leaves out that of a link whose name
// gets a record with fewer types: both cover the same names, and two would be one RRset.
func (r *reply) proveExpansions(except *link) {
	if r.proofs.count == 0 {
		return
	}
	needed := r.proofs
	r.proofs = proofs{}
	for _, l := range needed.list() {
		if l != except {
			r.prove(l, l.full)
		}
	}
}

// appendSOA appends the SOA of a negative answer, with its signatures.
func (r *reply) appendSOA() {
	negative := &r.zone.negative
	if r.hasRoom(len(negative.wire)) {
		r.appendPacked(negative)
	}
	r.answer.Authority++
	if !r.signed {
		return
	}
	m := negative.sig.current()
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

// appendOwner appends the name of a prefix in front of the apex, if the rest of its record, of so many octets, fits
// behind the name.
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

// prove appends a record of denial with its signatures, unless a record of the link has been appended. The signatures'
// owners point to the record's where they can.
func (r *reply) prove(l *link, denial *Signature) {
	if !r.proofs.add(l) {
		return
	}
	m := denial.current()
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

// proveNoName proves that neither the last name nor a wildcard in its place exists (RFC 4035 section 3.1.3.2, RFC 5155
// section 7.2.2).
func (r *reply) proveNoName() {
	r.proveEncloser()
	r.proveCover()
	if star := r.zone.noWildcard(r.encloser); star != nil {
		r.prove(star, star.full)
	}
}

// proveNoType proves that the last name, or the wildcard in its place, does not have the type (RFC 4035 sections
// 3.1.3.1 and 3.1.3.4, RFC 5155 sections 7.2.3 and 7.2.5). l and denial are of the name that lacks the type.
func (r *reply) proveNoType(l *link, denial *Signature) {
	r.prove(l, denial)
	if r.encloser != nil {
		r.proveEncloser()
		r.proveCover()
	}
}

// proveEncloser proves that the closest encloser exists, which is needed only where the chain is hashed.
func (r *reply) proveEncloser() {
	if r.zone.chain.hashed {
		l := r.zone.chain.find(r.encloser.name)
		r.prove(l, l.full)
	}
}

// proveCover proves that the name below the closest encloser, on the way to the last name, does not exist.
func (r *reply) proveCover() {
	l := r.coverOfName()
	r.prove(l, l.full)
}

// coverOfName returns the link that proves that the name below the closest encloser does not exist.
func (r *reply) coverOfName() *link {
	name := r.name
	if r.zone.chain.hashed {
		name = nextCloser(name, len(r.encloser.name))
	}
	return r.zone.chain.coverName(name)
}

// nextCloser returns the ancestor of a name, or the name itself, that is one label longer than its encloser of so many
// octets.
func nextCloser(name []byte, encloser int) []byte {
	for len(name)-int(name[0])-1 > encloser {
		name = name[name[0]+1:]
	}
	return name
}
