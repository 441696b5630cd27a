package zone

import (
	"net/netip"

	"github.com/miekg/dns"
)

// Question is the name, type and client of a query in class IN.
type Question struct {
	Name        []byte // in wire form and lower case, without compression
	Labels      int    // number of labels of Name
	Type        uint16
	DO          bool       // the client accepts signatures and proofs (RFC 3225)
	ownerLength uint8      // length of Owner in octets; 0 before the question is answered
	Client      netip.Addr // the client's address, which selects the client location
}

// Owner returns the existing part of the name: the name itself or its closest encloser. It returns the whole name if
// the name is outside all zones or the question is not answered yet.
func (q *Question) Owner() []byte {
	if q.ownerLength == 0 {
		return q.Name
	}
	return q.Name[len(q.Name)-int(q.ownerLength):]
}

// Kind classifies the answer to a question. For an alias, it classifies the answer for the target of the alias.
type Kind uint8

// The kinds of answers and their records.
const (
	Positive Kind = iota // at least one record
	NoData               // the name exists without this type: SOA record
	NXDomain             // the name does not exist: SOA record
	Refused              // the name is outside all zones: no records
	Failed               // no backend may answer, signing failed, or too many aliases: no records
)

// Answer describes an answer that Append appended.
type Answer struct {
	Kind      Kind
	Truncated bool   // the records did not fit; Append appended none
	Answers   uint16 // number of records in the answer section
	Authority uint16 // number of records in the authority section
	Scope     uint8  // number of address bits that selected the records (RFC 7871 section 7.2.1)
	Selection Selection
}

// Append appends the answer and authority sections for q to msg. msg holds the header and the question; the name of the
// question is at offset 12, in any case. Append writes within the capacity of msg and does not allocate.
//
// Append creates missing signatures, once per RRset. A signature takes about 20 microseconds. Append is safe for
// concurrent use; each goroutine needs its own Rotations.
func (v *View) Append(msg []byte, q *Question, rotations *Rotations) ([]byte, Answer) {
	zone, o, exact := v.findEnclosing(q)
	if zone == nil {
		return msg, Answer{Kind: Refused}
	}
	var r reply // assigned field by field, because a composite literal is built in another stack slot and copied
	r.msg, r.start = msg, len(msg)
	r.q, r.view, r.zone, r.rotations = q, v, zone, rotations
	r.name, r.owner = q.Name, questionName
	r.signed = q.DO && zone.signer != nil
	if q.Type == dns.TypeDS && len(q.Name) == len(zone.apex) {
		o = r.enterParentZone(o)
	}
	r.appendAnswer(o, exact)
	if r.answer.Kind != Positive || r.proofs.count > 0 {
		r.appendAuthority()
	}
	return r.finish()
}

// pickAny returns the type that answers ANY: the first load-balanced type with records, otherwise the lowest static
// type. It returns 0 for a name without records.
func (a *answers) pickAny() uint16 {
	for i := range a.balanced {
		if a.balanced[i].state != noData {
			return a.balanced[i].kind.Number
		}
	}
	if len(a.sets) > 0 {
		return a.sets[0].rtype
	}
	return 0
}
