package zone

import (
	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// Question is the name and type that a query asks for, in class IN.
type Question struct {
	Name   []byte // in wire form and lower case, without compression
	Labels int    // how many labels Name has
	Type   uint16
}

// Kind is what kind of answer a question got.
type Kind uint8

// The kinds of answers.
const (
	Positive  Kind = iota // at least one record
	NoData                // the name exists, the type does not: the SOA
	NXDomain              // the name does not exist: the SOA
	Refused               // the name is outside every zone: no record
	Failed                // nothing may serve: no record
	Elsewhere             // the name is an alias: use Resolve
)

// Answer says what was appended.
type Answer struct {
	Kind      Kind
	Truncated bool // the records did not fit, and none was appended
	Answers   uint16
	Authority uint16
}

// Append answers q behind msg, which holds a header, the name of q at its offset 12 in any case, type and class. It never
// writes past the capacity of msg, and allocates nothing. An alias is left to Resolve, with msg as it was.
func (v *View) Append(msg []byte, q *Question, turns *Turns) ([]byte, Answer) {
	slot, exact := v.enclose(q.Name, q.Labels)
	if slot == nil {
		return msg, Answer{Kind: Refused}
	}
	zone := slot.zone
	if !exact {
		if slot = v.wilds[slot]; slot == nil {
			return zone.deny(msg, q, NXDomain)
		}
	}
	if q.Type == dns.TypeDS && zone.parent != nil && len(q.Name) == len(zone.apex) {
		return zone.parent.deny(msg, q, NoData)
	}
	a := slot.answers.Load()
	rtype := q.Type
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if slot.steered {
		switch rtype {
		case dns.TypeA:
			return slot.address(msg, q, &a.steered[policy.IPv4], turns, slot.turn, recordA)
		case dns.TypeAAAA:
			return slot.address(msg, q, &a.steered[policy.IPv6], turns, slot.turn+1, recordAAAA)
		}
	}
	if set := a.set(rtype); set != nil {
		return set.answer(msg, q, zone, Answer{Kind: Positive, Answers: set.count})
	}
	if a.alias() {
		return msg, Answer{Kind: Elsewhere}
	}
	return zone.deny(msg, q, NoData)
}

// address appends the records whose turn it is.
func (s *Slot) address(msg []byte, q *Question, f *family, turns *Turns, turn uint32, length int) ([]byte, Answer) {
	switch f.state {
	case failing:
		return msg, Answer{Kind: Failed}
	case noData:
		return s.zone.deny(msg, q, NoData)
	}
	position := turns.next(turn, f)
	size := f.schedule.Size()
	if size*length > cap(msg)-len(msg) {
		return msg, Answer{Kind: Positive, Truncated: true}
	}
	for k := range size {
		at := f.schedule.Pick(position, k) * length
		msg = append(msg, f.records[at:at+length]...)
	}
	return msg, Answer{Kind: Positive, Answers: uint16(size)}
}

// deny appends the SOA of a negative answer.
func (z *Zone) deny(msg []byte, q *Question, kind Kind) ([]byte, Answer) {
	return z.negative.answer(msg, q, z, Answer{Kind: kind, Authority: 1})
}

// answer appends the packed records of the set, if they fit.
func (s *set) answer(msg []byte, q *Question, z *Zone, a Answer) ([]byte, Answer) {
	at := len(msg)
	if len(s.wire) > cap(msg)-at {
		return msg, Answer{Kind: a.Kind, Truncated: true}
	}
	msg = append(msg, s.wire...)
	point(msg[at:], s.pointers, len(q.Name), len(z.apex))
	return msg, a
}

// alias says whether the name is a CNAME, which has no other data (RFC 1034 section 3.6.2).
func (a *answers) alias() bool {
	return len(a.sets) == 1 && a.sets[0].rtype == dns.TypeCNAME
}

// pickAny chooses the one type that answers ANY: a steered address if there is one to give, else the lowest type.
func (a *answers) pickAny(steered bool) uint16 {
	switch {
	case steered && a.steered[policy.IPv4].state != noData:
		return dns.TypeA
	case steered && a.steered[policy.IPv6].state != noData:
		return dns.TypeAAAA
	case len(a.sets) > 0:
		return a.sets[0].rtype
	}
	return 0
}
