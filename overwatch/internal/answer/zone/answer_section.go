package zone

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// MaxAliases bounds how many CNAME records are followed for one question. A chain that has more fails.
const MaxAliases = 8

// ascend continues in the zone above, which has the DS records of a zone (RFC 4035 section 3.1.4.1). It returns the
// owner of the question's name there, or o if no zone is above.
func (r *reply) ascend(o *owner) *owner {
	above := r.view.above(r.zone)
	if above == nil {
		return o
	}
	o = above.find(r.name)
	r.zone, r.signed = above, r.q.DO && above.signer != nil
	return o
}

// appendAnswer appends the answer section: the records of the question's name and, while a name is an alias, those of
// the alias's target in the same zone (RFC 1034 section 4.3.2). o is the owner of the name, or with exact false that of
// its closest encloser.
func (r *reply) appendAnswer(o *owner, exact bool) {
	for range MaxAliases + 1 {
		if r.encloser = nil; !exact {
			if r.encloser, o = o, r.zone.wildcard(o); o == nil {
				r.answer.Kind = NXDomain
				return
			}
		}
		at := len(r.msg)
		target := r.appendName(o)
		if target == nil || !r.follow(target, at) {
			return
		}
		o, exact = r.zone.enclose(target, labelsOf(target))
	}
	r.answer = Answer{Kind: Failed}
}

// appendName appends the records of a name that exists, or of the wildcard in its place. It returns the target if the
// name is an alias to follow, else nil.
func (r *reply) appendName(o *owner) (target []byte) {
	a := o.answers.Load()
	rtype := r.q.Type
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if r.appendType(o, a, rtype) || r.zone.signer != nil && r.appendSigningType(o, a, rtype) {
		return nil
	}
	if which := a.steeredAs(dns.TypeCNAME); which >= 0 {
		return r.appendSteered(o, a, which)
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
	if which := a.steeredAs(rtype); which >= 0 {
		r.appendSteered(o, a, which)
		return true
	}
	set := a.set(rtype)
	if set != nil {
		r.appendSet(set)
	}
	return set != nil
}

// appendSigningType answers for the types that signing adds to a name: NSEC, and RRSIG, for which the signatures of the
// type that answers ANY are appended (RFC 8482 section 7). It returns false for other types.
func (r *reply) appendSigningType(o *owner, a *answers, rtype uint16) bool {
	switch rtype {
	case dns.TypeRRSIG:
		r.signed, r.onlySignatures = true, true
		return r.appendType(o, a, a.any)
	case dns.TypeNSEC:
		if r.zone.chain.hashed {
			return false
		}
		l := r.zone.chain.find(o.name)
		if l != nil {
			r.appendNSEC(l)
		}
		return l != nil
	}
	return false
}

// appendNSEC appends the NSEC record of a name as data.
func (r *reply) appendNSEC(l *link) {
	if r.hasRoom(2 + len(l.full.content)) {
		r.msg = append(binary.BigEndian.AppendUint16(r.msg, r.owner), l.full.content...)
	}
	r.answer.Answers++
	r.signAnswer(l.full, l.full.ttl())
}

// appendSet appends an RRset that does not depend on health.
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

// setOwners replaces the owners of records, which are pointers, by another pointer.
func setOwners(records []byte, pointer uint16) {
	for len(records) > 0 {
		binary.BigEndian.PutUint16(records, pointer)
		records = records[2+fixedPart+int(binary.BigEndian.Uint16(records[fixedPart:])):]
	}
}

// appendSteered appends the records whose turn it is, or notes that there is none. which is an index of a.steered. It
// returns the target of an alias for a name of the zone, else nil.
func (r *reply) appendSteered(o *owner, a *answers, which int) (target []byte) {
	switch a.steered[which].state {
	case failing:
		r.answer.Kind = Failed
		r.answer.Steered = a.unanswered(r.view, which, r.q.Client)
		return nil
	case noData:
		r.denyType(o, a.steered[which].kind.Number)
		r.answer.Steered = a.unanswered(r.view, which, r.q.Client)
		return nil
	}
	c, position, scope, steered := a.pick(r.view, which, r.q, r.turns)
	r.answer.Scope, r.answer.Steered = max(r.answer.Scope, scope), steered
	if c.inside {
		target = c.one(c.schedule.Pick(position, 0))
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

// appendAlias appends a CNAME record, with a pointer to the zone's name in a target of the zone.
func (r *reply) appendAlias(target []byte, ttl uint32) {
	length := len(target)
	inside := len(r.zone.apex) > 1 && r.zone.holds(target)
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

// signAnswer appends the signatures of an RRset of the answer section with the TTL of its records. If a wildcard gave
// the records, the authority section proves that the name itself does not exist (RFC 4035 section 3.1.3.3, RFC 5155
// section 7.2.6).
func (r *reply) signAnswer(s *Signature, ttl uint32) {
	if !r.signed {
		return
	}
	m := s.current()
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
		r.proofs.add(r.coverOfName())
	}
}

// follow makes the target of the alias at an offset of the message the name that is answered. It returns false for a
// target that another zone answers for, or that a pointer cannot reach.
func (r *reply) follow(target []byte, alias int) bool {
	at := alias + 2 + fixedPart // of the record's data
	if at > maxPointer || r.view.zoneOf(target, labelsOf(target)) != r.zone {
		return false
	}
	r.name, r.owner = target, uint16(pointerFlag|at)
	if apex := len(r.zone.apex); apex == len(target) {
		if r.q.Type == dns.TypeDS && r.view.above(r.zone) != nil {
			return false // the zone above has the DS records
		}
		if apex > 1 {
			r.owner = r.apexPointer()
		}
	}
	return true
}
