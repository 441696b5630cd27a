package zone

import (
	"bytes"
	"encoding/binary"
	"net"
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

// family is what a steered name answers with addresses of one family; immutable. What most queries need comes first.
type family struct {
	schedule *policy.Schedule // over the addresses
	edition  uint32           // tells one set of answers from the next; see Turns
	ttl      uint32           // seconds
	state    state
	far      bool                // the addresses are in more
	near     [nearAddresses]byte // else: one after the other, in wire form
	sigs     [nearSigs]*Signature
	more     *more // nil: near and sigs have all
}

const (
	nearAddresses = 16 // octets: four A, one AAAA
	nearSigs      = 4
)

// more is what a family has no room for; immutable.
type more struct {
	addresses []byte
	sigs      []*Signature
}

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
	out := family{state: answering, schedule: schedules.For(turnsOf(decision), answers), ttl: decision.TTL}
	addresses := out.near[:0]
	if size := len(decision.Due) * addressLength(f); size > nearAddresses {
		addresses = make([]byte, 0, size)
	}
	for _, due := range decision.Due {
		addresses = appendAddress(addresses, f, due.Address)
	}
	if len(addresses) > nearAddresses {
		out.far, out.more = true, &more{addresses: addresses}
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

// appendAddress packs an address.
func appendAddress(wire []byte, f policy.Family, address netip.Addr) []byte {
	if f == policy.IPv4 {
		octets := address.As4()
		return append(wire, octets[:]...)
	}
	octets := address.As16()
	return append(wire, octets[:]...)
}

// appendRecords packs the A or AAAA records of the question's name at a position of the schedule.
func (f *family) appendRecords(msg []byte, which policy.Family, position uint32) []byte {
	// The owner, type, class and TTL of each, the length of its data, and that.
	head := questionName<<48 | uint64(typeOf(which))<<32 | classIN<<16 | uint64(f.ttl>>16)
	tail := f.ttl<<16 | uint32(addressLength(which))
	addresses := f.addresses()
	for k := range f.schedule.Size() {
		msg = binary.BigEndian.AppendUint64(msg, head)
		if at := f.schedule.Pick(position, k); which == policy.IPv4 {
			address := binary.BigEndian.Uint32(addresses[at*net.IPv4len:])
			msg = binary.BigEndian.AppendUint64(msg, uint64(tail)<<32|uint64(address))
		} else {
			msg = binary.BigEndian.AppendUint32(msg, tail)
			msg = append(msg, addresses[at*net.IPv6len:(at+1)*net.IPv6len]...)
		}
	}
	return msg
}

// addresses are all that may be answered, one after the other, in wire form and in the order of the decision.
func (f *family) addresses() []byte {
	if f.far {
		return f.more.addresses
	}
	return f.near[:]
}

// address is one of them.
func (f *family) address(which policy.Family, candidate int) []byte {
	length := addressLength(which)
	return f.addresses()[candidate*length : (candidate+1)*length]
}

func typeOf(f policy.Family) uint16 {
	if f == policy.IPv4 {
		return dns.TypeA
	}
	return dns.TypeAAAA
}

func addressLength(f policy.Family) int { return recordLength(f) - 2 - fixedPart }

func recordLength(f policy.Family) int {
	if f == policy.IPv4 {
		return recordA
	}
	return recordAAAA
}

// same says whether two families give the same answers in the same turns.
func (f *family) same(other *family) bool {
	return f.state == other.state && f.schedule == other.schedule && f.ttl == other.ttl && f.near == other.near &&
		f.far == other.far &&
		(!f.far || bytes.Equal(f.more.addresses, other.more.addresses))
}

// signature is that of an answer of the schedule, nil where the zone is not signed.
func (f *family) signature(answer int) *Signature {
	if f.more != nil && f.more.sigs != nil {
		return f.more.sigs[answer]
	}
	if answer < nearSigs {
		return f.sigs[answer]
	}
	return nil
}

// signatures are those of all answers, none where the zone is not signed.
func (f *family) signatures() []*Signature {
	switch {
	case f.more != nil && f.more.sigs != nil:
		return f.more.sigs
	case f.sigs[0] != nil:
		return f.sigs[:f.schedule.Answers()]
	}
	return nil
}

// keep takes signatures in the place of those that it has.
func (f *family) keep(sigs []*Signature) {
	f.sigs = [nearSigs]*Signature{}
	var next more
	if f.far {
		next.addresses = f.more.addresses
	}
	if f.more = nil; len(sigs) > nearSigs {
		next.sigs = sigs
	} else {
		copy(f.sigs[:], sigs)
	}
	if f.far || next.sigs != nil {
		f.more = &next
	}
}

// answersWith makes answers of both families.
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
	return out
}

// sign gives each answer of the family its signature, under the TTL in it.
func (o *owner) sign(z *Zone, f policy.Family, in *family, ttl uint32) {
	if z.signer == nil || in.state != answering {
		in.keep(nil)
		return
	}
	sigs := make([]*Signature, in.schedule.Answers())
	for i := range sigs {
		picks := in.schedule.Members(i)
		data := make([][]byte, len(picks))
		for k, candidate := range picks {
			data[k] = in.address(f, int(candidate))
		}
		sigs[i] = o.known.at(z.signer, o.name, contentOf(typeOf(f), ttl, data))
	}
	in.keep(sigs)
}

// signAgain gives the answers of the previous view their signatures, which are the same if the zone's signer is.
func (o *owner) signAgain(z *Zone, f policy.Family, in *family) {
	if in.state != answering {
		return
	}
	ttl := in.ttl
	if sigs := in.signatures(); len(sigs) > 0 {
		ttl = sigs[0].ttl()
	}
	o.sign(z, f, in, ttl)
}
