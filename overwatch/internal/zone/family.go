package zone

import (
	"bytes"
	"encoding/binary"
	"net/netip"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// state is what a steered name answers for one address family.
type state uint8

const (
	failing   state = iota // SERVFAIL: nothing may serve; the state of a name that was not decided yet
	noData                 // no address of this family
	answering              // the addresses of a schedule, in turn
)

// Lengths of a packed address record: owner, fixed part and address.
const (
	recordA    = 2 + fixedPart + 4
	recordAAAA = 2 + fixedPart + 16
)

// MaxAnswers is how many addresses an answer has room for, in either family.
const MaxAnswers = maxSet / recordAAAA

// familyOf compiles a decision.
func familyOf(f policy.Family, decision policy.Decision, answers int, schedules *policy.Scheduler) family {
	switch {
	case len(decision.Due) > 0:
	case decision.Outcome == policy.NoData:
		return family{state: noData}
	default:
		return family{state: failing}
	}
	out := family{state: answering, schedule: schedules.For(turnsOf(decision), answers)}
	out.records = make([]byte, 0, len(decision.Due)*recordLength(f))
	for _, due := range decision.Due {
		out.records = appendAddress(out.records, f, due.Address, decision.TTL)
	}
	return out
}

// turnsOf is who takes turns. Where the client decides who leads, the schedule says who follows: its n-th position
// is led by the n-th address.
func turnsOf(d policy.Decision) []policy.Due {
	if !d.Hashed {
		return d.Due
	}
	alike := make([]policy.Due, len(d.Due))
	for i := range alike {
		alike[i] = policy.Due{Address: d.Due[i].Address, Parts: 1}
	}
	return alike
}

// appendAddress packs the A or AAAA record of the question's name.
func appendAddress(wire []byte, f policy.Family, address netip.Addr, ttl uint32) []byte {
	wire = binary.BigEndian.AppendUint16(wire, questionName)
	wire = binary.BigEndian.AppendUint16(wire, typeOf(f))
	wire = binary.BigEndian.AppendUint16(wire, classIN)
	wire = binary.BigEndian.AppendUint32(wire, ttl)
	if f == policy.IPv4 {
		octets := address.As4()
		return append(append(wire, 0, 4), octets[:]...)
	}
	octets := address.As16()
	return append(append(wire, 0, 16), octets[:]...)
}

func typeOf(f policy.Family) uint16 {
	if f == policy.IPv4 {
		return dns.TypeA
	}
	return dns.TypeAAAA
}

func recordLength(f policy.Family) int {
	if f == policy.IPv4 {
		return recordA
	}
	return recordAAAA
}

// ttl is that of the records, of which there must be one.
func (f *family) ttl() uint32 { return binary.BigEndian.Uint32(f.records[6:]) }

// same says whether two families give the same answers in the same turns.
func (f *family) same(other *family) bool {
	return f.state == other.state && f.schedule == other.schedule && bytes.Equal(f.records, other.records)
}

// answersWith makes answers of both families, with their records in place if there is room.
func answersWith(families [2]family, where *[2]placed, sets []set) *answers {
	var out *answers
	if where != nil {
		with := &struct {
			answers
			places [2]placed
		}{places: *where}
		out = &with.answers
		out.placed = &with.places
	} else {
		out = new(answers)
	}
	out.steered, out.sets = families, sets
	if where == nil {
		out.settle()
	}
	return out
}

// sign gives each answer of the family its signature, under the TTL in it.
func (s *Slot) sign(f policy.Family, in *family, ttl uint32) {
	in.sigs = nil
	if s.zone.signer == nil || in.state != answering {
		return
	}
	length := recordLength(f)
	in.sigs = make([]*Signature, in.schedule.Answers())
	for i := range in.sigs {
		picks := in.schedule.Members(i)
		data := make([][]byte, len(picks))
		for k, candidate := range picks {
			at := int(candidate) * length
			data[k] = in.records[at+2+fixedPart : at+length]
		}
		in.sigs[i] = s.proofs.known.at(s.zone.signer, s.proofs.name, contentOf(typeOf(f), ttl, data))
	}
}

// signAgain gives the answers of the previous view their signatures, which are the same if the zone's signer is.
func (s *Slot) signAgain(f policy.Family, in *family) {
	if in.state != answering {
		return
	}
	ttl := in.ttl()
	if len(in.sigs) > 0 {
		ttl = in.sigs[0].ttl()
	}
	s.sign(f, in, ttl)
}
