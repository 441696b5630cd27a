package zone

import (
	"encoding/binary"
	"net/netip"
	"slices"

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

// family is what a steered name answers with addresses of one family; immutable.
type family struct {
	state    state
	edition  uint32           // tells one set of answers from the next; see Turns
	schedule *policy.Schedule // over the records
	records  []byte           // one address record after the other, all of one length
	ttl      uint32           // seconds
	due      []policy.Due     // what was compiled, in the order of the records
}

// familyOf compiles a decision.
func familyOf(f policy.Family, decision policy.Decision, answers int, schedules *policy.Scheduler) family {
	switch {
	case len(decision.Due) > 0:
	case decision.Outcome == policy.NoData:
		return family{state: noData}
	default:
		return family{state: failing}
	}
	out := family{state: answering, ttl: decision.TTL, due: decision.Due}
	out.schedule = schedules.For(decision.Due, answers)
	out.records = make([]byte, 0, len(decision.Due)*recordAAAA)
	for _, due := range decision.Due {
		out.records = appendAddress(out.records, f, due.Address, decision.TTL)
	}
	out.records = slices.Clip(out.records)
	return out
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

// same says whether two families give the same answers in the same turns.
func (f *family) same(other *family) bool {
	return f.state == other.state && f.schedule == other.schedule && f.ttl == other.ttl && slices.Equal(f.due, other.due)
}
