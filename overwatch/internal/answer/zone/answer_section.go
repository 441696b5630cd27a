package zone

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// MaxAliases is the largest number of CNAME records that an answer follows. The answer to a longer chain is SERVFAIL.
const MaxAliases = 8

// enterParentZone continues in the parent zone, which holds the DS records of a zone (RFC 4035 section 3.1.4.1). It
// returns the owner of the question's name in the parent zone, or o if the view has no parent zone.
func (r *reply) enterParentZone(o *owner) *owner {
	above := r.view.parentZone(r.zone)
	if above == nil {
		return o
	}
	o = above.findOwner(r.name)
	r.zone, r.signed = above, r.q.DO && above.signer != nil
	return o
}

// appendAnswer appends the answer section: the records of the question's name, then the records of each alias target in
// the same zone (RFC 1034 section 4.3.2). o is the owner of the name if exact is true, otherwise its closest encloser.
func (r *reply) appendAnswer(o *owner, exact bool) {
	for range MaxAliases + 1 {
		if r.encloser = nil; !exact {
			if r.encloser, o = o, r.zone.findWildcard(o); o == nil {
				r.answer.Kind = NXDomain
				return
			}
		}
		at := len(r.msg)
		target := r.appendName(o)
		if target == nil || !r.followAlias(target, at) {
			return
		}
		o, exact = r.zone.findEnclosing(target, countLabels(target))
	}
	r.answer = Answer{Kind: Failed}
}

// appendName appends the records of a name, or of the wildcard that matches the name. It returns the alias target to
// follow; nil if the name is not an alias.
func (r *reply) appendName(o *owner) (target []byte) {
	a := o.answers.Load()
	rtype := r.q.Type
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if r.appendType(o, a, rtype) || r.zone.signer != nil && r.appendSigningType(o, a, rtype) {
		return nil
	}
	if index := a.indexOfType(dns.TypeCNAME); index >= 0 {
		return r.appendBalanced(o, a, index)
	}
	if alias := a.set(dns.TypeCNAME); alias != nil {
		r.appendSet(alias)
		return alias.target
	}
	r.denyType(o, rtype)
	return nil
}

// appendType appends the records of a type. It returns false if the name does not have the type.
func (r *reply) appendType(o *owner, a *answers, rtype uint16) bool {
	if index := a.indexOfType(rtype); index >= 0 {
		r.appendBalanced(o, a, index)
		return true
	}
	set := a.set(rtype)
	if set != nil {
		r.appendSet(set)
	}
	return set != nil
}

// appendSigningType appends the records of types that signing adds to a name: NSEC and RRSIG. A question for RRSIG
// receives the signatures of the type that answers ANY (RFC 8482 section 7). It returns false if the name does not have
// the type: for other types, and for NSEC in a zone with NSEC3 or at a name without a link.
func (r *reply) appendSigningType(o *owner, a *answers, rtype uint16) bool {
	switch rtype {
	case dns.TypeRRSIG:
		r.signed, r.onlySignatures = true, true
		return r.appendType(o, a, a.any)
	case dns.TypeNSEC:
		if r.zone.chain.hashed {
			return false
		}
		l := r.zone.chain.findLink(o.name)
		if l != nil {
			r.appendNSEC(l)
		}
		return l != nil
	}
	return false
}

// appendNSEC appends the NSEC record of a name to the answer section.
func (r *reply) appendNSEC(l *link) {
	if r.hasRoom(2 + len(l.full.content)) {
		r.msg = append(binary.BigEndian.AppendUint16(r.msg, r.owner), l.full.content...)
	}
	r.answer.Answers++
	r.signAnswer(l.full, l.full.ttl())
}

// appendSet appends a static RRset.
func (r *reply) appendSet(s *set) {
	if !r.onlySignatures {
		if at := len(r.msg); r.hasRoom(len(s.wire)) {
			r.appendPacked(s)
			if r.owner != questionName {
				setOwners(r.msg[at:], r.owner)
			}
		}
		r.answer.Answers += s.count
	}
	r.signAnswer(s.sig, s.ttl)
}

// setOwners replaces the owner of each record. All owners are compression pointers.
func setOwners(records []byte, pointer uint16) {
	for len(records) > 0 {
		binary.BigEndian.PutUint16(records, pointer)
		records = records[2+fixedPart+int(binary.BigEndian.Uint16(records[fixedPart:])):]
	}
}

// appendBalanced appends the records at the current rotation position, or makes the answer negative or failed. index is
// an index in a.balanced. It returns the alias target to follow; nil if the answer is not an alias in the zone.
func (r *reply) appendBalanced(o *owner, a *answers, index int) (target []byte) {
	switch a.balanced[index].state {
	case failing:
		r.answer.Kind = Failed
		r.answer.Selection = a.emptySelection(r.view, index, r.q.Client)
		return nil
	case noData:
		r.denyType(o, a.balanced[index].kind.Number)
		r.answer.Selection = a.emptySelection(r.view, index, r.q.Client)
		return nil
	}
	c, position, scope, selection := a.pick(r.view, index, r.q, r.rotations)
	r.answer.Scope, r.answer.Selection = max(r.answer.Scope, scope), selection
	switch c.state { // of the client's variant
	case failing:
		r.answer.Kind = Failed
		return nil
	case noData:
		r.denyType(o, c.kind.Number)
		return nil
	}
	if c.inZone {
		target = c.recordData(c.schedule.Pick(position, 0))
	}
	if !r.onlySignatures {
		if target != nil {
			r.appendAlias(target, c.ttl)
		} else if r.hasRoom(c.length(position)) {
			r.msg = c.appendRecords(r.msg, r.owner, position)
		}
		r.answer.Answers += uint16(c.schedule.Size())
	}
	if r.signed {
		r.signAnswer(c.signature(c.schedule.Answer(position)), c.ttl)
	}
	return target
}

// appendAlias appends a CNAME record. A target in the zone ends with a pointer to the apex.
func (r *reply) appendAlias(target []byte, ttl uint32) {
	length := len(target)
	inside := len(r.zone.apex) > 1 && r.zone.containsName(target)
	if inside {
		length -= len(r.zone.apex) - 2
	}
	if !r.hasRoom(2 + fixedPart + length) {
		return
	}
	r.msg = binary.BigEndian.AppendUint16(r.msg, r.owner)
	r.msg = binary.BigEndian.AppendUint32(r.msg, uint32(dns.TypeCNAME)<<16|classIN)
	r.msg = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(r.msg, ttl), uint16(length))
	if inside {
		r.msg = binary.BigEndian.AppendUint16(append(r.msg, target[:length-2]...), r.apexPointer())
	} else {
		r.msg = append(r.msg, target...)
	}
}

// signAnswer appends the signatures of an RRset of the answer section, with the TTL of the records. If the records come
// from a wildcard, the authority section also proves that the name itself does not exist (RFC 4035 section 3.1.3.3, RFC
// 5155 section 7.2.6).
func (r *reply) signAnswer(s *Signature, ttl uint32) {
	if !r.signed {
		return
	}
	m := s.currentRecords()
	if m == nil {
		r.unsigned = true
		return
	}
	each := int(m.each)
	for wire := m.wire(); len(wire) > 0; wire = wire[each:] {
		if r.hasRoom(2 + each) {
			r.msg = append(binary.BigEndian.AppendUint16(r.msg, r.owner), wire[:each]...)
			binary.BigEndian.PutUint32(r.msg[len(r.msg)-each+4:], ttl)
		}
		r.answer.Answers++
	}
	if r.encloser != nil {
		r.proofs.add(r.nextCloserDenial())
	}
}

// followAlias continues with the target of the alias at an offset of the message. It returns false if the target
// belongs to another zone, or if a pointer cannot reach it.
func (r *reply) followAlias(target []byte, alias int) bool {
	at := alias + 2 + fixedPart // offset of the record data
	if at > maxPointer || r.view.zoneOf(target, countLabels(target)) != r.zone {
		return false
	}
	r.name, r.owner = target, uint16(pointerFlag|at)
	if apex := len(r.zone.apex); apex == len(target) {
		if r.q.Type == dns.TypeDS && r.view.parentZone(r.zone) != nil {
			return false // the zone above has the DS records
		}
		if apex > 1 {
			r.owner = r.apexPointer()
		}
	}
	return true
}
