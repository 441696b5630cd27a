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
	Client netip.Addr // its address, for names whose answer depends on the client's location
}

// Owner returns the part of the name that exists: all of it, or its closest encloser. Outside every zone, and before
// the question was answered, it returns all of it.
func (q *Question) Owner() []byte {
	if q.owner == 0 {
		return q.Name
	}
	return q.Name[len(q.Name)-int(q.owner):]
}

// Kind classifies the answer to a question. After an alias it classifies the answer for the alias's target.
type Kind uint8

// The kinds of answers.
const (
	Positive Kind = iota // at least one record
	NoData               // the name exists, the type does not: the SOA
	NXDomain             // the name does not exist: the SOA
	Refused              // the name is outside every zone: no record
	Failed               // nothing may serve, the answer cannot be signed, or too many aliases: no record
)

// Answer describes the answer that was appended.
type Answer struct {
	Kind      Kind
	Truncated bool   // the records did not fit, and none was appended
	Answers   uint16 // records in the answer section
	Authority uint16 // records in the authority section
	Scope     uint8  // leading bits of the client's address that the records depended on (RFC 7871 section 7.2.1)
	Steered   Steered
}

// Append appends the answer and authority sections of the answer to q to msg, which holds a header, the name of q at
// its offset 12 in any case, type and class. Append answers every question in class IN. It never writes past the
// capacity of msg, and allocates nothing.
//
// Signatures that have not been made yet are made, which takes some 20 microseconds each, once.
func (v *View) Append(msg []byte, q *Question, turns *Turns) ([]byte, Answer) {
	zone, o, exact := v.enclose(q)
	if zone == nil {
		return msg, Answer{Kind: Refused}
	}
	var r reply // assigned field by field: a composite literal is made elsewhere on the stack and copied
	r.msg, r.start = msg, len(msg)
	r.q, r.view, r.zone, r.turns = q, v, zone, turns
	r.name, r.owner = q.Name, questionName
	r.signed = q.DO && zone.signer != nil
	if q.Type == dns.TypeDS && len(q.Name) == len(zone.apex) {
		o = r.ascend(o)
	}
	r.appendAnswer(o, exact)
	if r.answer.Kind != Positive || r.proofs.count > 0 {
		r.appendAuthority()
	}
	return r.finish()
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
