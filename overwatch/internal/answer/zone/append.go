package zone

import (
	"net/netip"

	"github.com/miekg/dns"
)

// Question is the name and type that a query asks for, in class IN.
type Question struct {
	Name   []byte // in wire form and lower case, without compression
	Labels int    // number of labels of Name
	Type   uint16
	DO     bool       // signatures and proofs are wanted (RFC 3225)
	owner  uint8      // octets of Owner; 0 where it is not known yet
	Client netip.Addr // its address, for names whose answer depends on its place
}

// Owner returns the part of the name that exists: all of it, or its closest encloser. Outside every zone, and before
// the question was answered, it returns all of it.
func (q *Question) Owner() []byte {
	if q.owner == 0 {
		return q.Name
	}
	return q.Name[len(q.Name)-int(q.owner):]
}

// Enclose finds the question's Owner without answering.
func (v *View) Enclose(q *Question) { v.enclose(q) }

// Kind classifies the answer to a question.
type Kind uint8

// The kinds of answers.
const (
	Positive  Kind = iota // at least one record
	NoData                // the name exists, the type does not: the SOA
	NXDomain              // the name does not exist: the SOA
	Refused               // the name is outside every zone: no record
	Failed                // nothing may serve, or it cannot be signed: no record
	Elsewhere             // the name is an alias, or the question is a rare one: use Resolve
)

// Answer describes the answer that was appended.
type Answer struct {
	Kind      Kind
	Truncated bool // the records did not fit, and none was appended
	Answers   uint16
	Authority uint16
	Scope     uint8 // leading bits of the client's address that the records depended on (RFC 7871 section 7.2.1)
	Steered   Steered
}

// Append appends the answer to q to msg, which holds a header, the name of q at its offset 12 in any case, type and
// class. It never writes past the capacity of msg, and allocates nothing. For an alias it returns msg unchanged with
// Kind Elsewhere, and Resolve answers; only a steered alias that leads out of the zone is appended.
//
// Signatures that have not been made yet are made, which takes some 20 microseconds each, once.
func (v *View) Append(msg []byte, q *Question, turns *Turns) ([]byte, Answer) {
	zone, o, exact := v.enclose(q)
	if zone == nil {
		return msg, Answer{Kind: Refused}
	}
	r := reply{msg: msg, start: len(msg), q: q, zone: zone, view: v}
	r.signed = q.DO && zone.signer != nil
	if !exact {
		wildcard := zone.wildcard(o)
		if wildcard == nil {
			r.nameError(o)
			return r.finish()
		}
		r.encloser, o = o, wildcard
	}
	r.name(o, turns)
	return r.finish()
}

// name answers for a name that exists, or for the wildcard in the place of one that does not.
func (r *reply) name(o *owner, turns *Turns) {
	if r.q.Type == dns.TypeDS && len(r.q.Name) == len(r.zone.apex) {
		if above := r.view.above(r.zone); above != nil {
			r.delegation(above)
			return
		}
	}
	a := o.answers.Load()
	rtype := r.q.Type
	if rtype == dns.TypeANY {
		rtype = a.any
	}
	if which := a.steeredAs(rtype); which >= 0 {
		r.steered(o, a, which, turns)
		return
	}
	if set := a.set(rtype); set != nil {
		r.set(set)
		r.answer.Answers = set.count
		if r.signed {
			r.answer.Answers += r.signature(set.sig, "", true, set.ttl)
			r.expanded()
		}
		return
	}
	if a.alias() || rtype == dns.TypeRRSIG || rtype == dns.TypeNSEC {
		r.answer.Kind = Elsewhere
		return
	}
	if which := a.steeredAs(dns.TypeCNAME); which >= 0 {
		r.steered(o, a, which, turns)
		return
	}
	r.noData(o)
}

// steered appends the records whose turn it is. which is an index of a.steered.
func (r *reply) steered(o *owner, a *answers, which int, turns *Turns) {
	switch a.steered[which].state {
	case failing:
		r.answer.Kind = Failed
		r.answer.Steered = a.unanswered(r.view, which, r.q.Client)
		return
	case noData:
		r.noData(o)
		r.answer.Steered = a.unanswered(r.view, which, r.q.Client)
		return
	}
	if a.steered[which].inside {
		r.answer.Kind = Elsewhere
		return
	}
	var c *candidates
	var position uint32
	c, position, r.answer.Scope, r.answer.Steered = a.pick(r.view, which, r.q, turns)
	if !r.room(c.length(position)) {
		return
	}
	r.msg = c.appendRecords(r.msg, position)
	r.answer.Answers = uint16(c.schedule.Size())
	if r.signed {
		r.answer.Answers += r.signature(c.signature(c.schedule.Answer(position)), "", true, c.ttl)
		r.expanded()
	}
}

// delegation answers a question for the DS records of a zone, which the zone above has (RFC 4035 section 3.1.4.1).
func (r *reply) delegation(above *Zone) {
	o := above.find([]byte(r.zone.apex))
	r.zone = above
	r.signed = r.q.DO && above.signer != nil
	ds := o.answers.Load().set(dns.TypeDS)
	if ds == nil {
		r.noData(o)
		return
	}
	r.set(ds)
	r.answer.Answers = ds.count
	if r.signed {
		r.answer.Answers += r.signature(ds.sig, "", true, ds.ttl)
	}
}

// alias reports whether the name is a CNAME, which has no other data (RFC 1034 section 3.6.2).
func (a *answers) alias() bool {
	return len(a.sets) == 1 && a.sets[0].rtype == dns.TypeCNAME
}

// pickAny returns the one type that answers ANY: a steered one if it has a record to give, else the lowest.
func (a *answers) pickAny() uint16 {
	for i := range a.steered {
		if a.steered[i].state != noData {
			return a.steered[i].kind.Number
		}
	}
	if len(a.sets) > 0 {
		return a.sets[0].rtype
	}
	return 0
}
