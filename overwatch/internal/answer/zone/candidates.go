package zone

import (
	"bytes"
	"encoding/binary"
	"net"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// state is the kind of answer of a load-balanced name for one record type.
type state uint8

const (
	failing   state = iota // SERVFAIL: no backend may answer, or the name has no decision yet
	noData                 // the name has no record of this type
	answering              // records of a schedule, in rotation
)

// candidates holds the records of one type that a load-balanced name can answer with, and the schedule of their
// rotation. It is immutable. The fields that most queries read are in front.
type candidates struct {
	schedule      *policy.Schedule // over the records
	kind          *Type
	generation    uint32 // unique number of this set of records; see Rotations
	ttl           uint32 // seconds
	rotationIndex uint32 // index in Rotations of the position in the schedule
	state         state
	inZone        bool                 // a record is an alias for a name of the zone
	external      bool                 // the record data is in overflow
	inline        [inlineDataSize]byte // record data, if external is false
	inlineSigs    [maxInlineSigs]*Signature
	overflow      *overflow // nil if inline and inlineSigs are sufficient
}

const (
	inlineDataSize = 16 // octets: four A, one AAAA
	maxInlineSigs  = 4
)

// overflow holds data and signatures that exceed the inline space of candidates. It is immutable.
type overflow struct {
	data []byte
	ends []int // end offset of each record's data; nil if all have the length of the type
	sigs []*Signature
}

// MaxAnswers is the largest number of addresses in an answer, for both families.
const MaxAnswers = MaxSet / (2 + fixedPart + net.IPv6len)

// compileCandidates returns the candidates of a type for a decision. answers is the number of records per answer.
func (z *Zone) compileCandidates(
	kind *Type,
	decision *policy.Decision,
	answers int,
	schedules *policy.ScheduleCache,
) candidates {
	switch {
	case len(decision.Members) > 0:
	case decision.Outcome == policy.NoData:
		return candidates{kind: kind, state: noData}
	default:
		return candidates{kind: kind, state: failing}
	}
	out := candidates{
		kind: kind, state: answering, schedule: schedules.Get(sharesOf(decision), answers), ttl: decision.TTL,
	}
	data, ends := out.inline[:0], []int(nil)
	if size := len(decision.Members) * kind.Length; size > inlineDataSize {
		data = make([]byte, 0, size)
	}
	for _, due := range decision.Members {
		begin := len(data)
		if data = kind.Data(data, due); kind.Length == 0 {
			out.inZone = out.inZone || kind.Number == dns.TypeCNAME && canonical(data[begin:]).isWithin(z.apex)
			ends = append(ends, len(data))
		}
	}
	if len(data) > inlineDataSize || ends != nil {
		out.external, out.overflow = true, &overflow{data: data, ends: ends}
	}
	return out
}

// sharesOf returns the shares of the rotation. If the client's network selects the first address, all shares are equal,
// and the n-th position of the schedule starts with the n-th address.
func sharesOf(d *policy.Decision) []policy.Member {
	if !d.Hashed {
		return d.Members
	}
	alike := make([]policy.Member, len(d.Members))
	for i := range alike {
		alike[i] = policy.Member{Address: d.Members[i].Address, Parts: 1}
	}
	return alike
}

// length returns the number of octets of the packed records at a position of the schedule.
func (c *candidates) length(position uint32) (octets int) {
	octets = c.schedule.Size() * (2 + fixedPart + c.kind.Length)
	if c.kind.Length == 0 {
		for k := range c.schedule.Size() {
			octets += len(c.recordData(c.schedule.Pick(position, k)))
		}
	}
	return octets
}

// appendRecords appends the packed records at a position of the schedule. owner is a pointer to the owner name.
func (c *candidates) appendRecords(msg []byte, owner uint16, position uint32) []byte {
	// Each record consists of owner, type, class, TTL, data length and data.
	head := uint64(owner)<<48 | uint64(c.kind.Number)<<32 | classIN<<16 | uint64(c.ttl>>16)
	for k := range c.schedule.Size() {
		data := c.recordData(c.schedule.Pick(position, k))
		tail := c.ttl<<16 | uint32(len(data))
		msg = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(msg, head), tail)
		msg = append(msg, data...)
	}
	return msg
}

// data returns the data of all records, concatenated in the order of the decision.
func (c *candidates) data() []byte {
	if c.external {
		return c.overflow.data
	}
	return c.inline[:]
}

// recordData returns the data of the record with this number.
func (c *candidates) recordData(number int) []byte {
	length := c.kind.Length
	if length > 0 {
		return c.data()[number*length : (number+1)*length]
	}
	begin := 0
	if number > 0 {
		begin = c.overflow.ends[number-1]
	}
	return c.overflow.data[begin:c.overflow.ends[number]]
}

// equal reports whether both sets have the same records in the same rotation.
func (c *candidates) equal(other *candidates) bool {
	return c.kind == other.kind && c.state == other.state && c.schedule == other.schedule && c.ttl == other.ttl &&
		c.inline == other.inline && c.external == other.external &&
		(!c.external || bytes.Equal(c.overflow.data, other.overflow.data))
}

// signature returns the signature of an answer of the schedule; nil if the zone is not signed.
func (c *candidates) signature(answer int) *Signature {
	if c.overflow != nil && c.overflow.sigs != nil {
		return c.overflow.sigs[answer]
	}
	if answer < maxInlineSigs {
		return c.inlineSigs[answer]
	}
	return nil
}

// signatures returns the signatures of all answers; nil if the zone is not signed.
func (c *candidates) signatures() []*Signature {
	switch {
	case c.overflow != nil && c.overflow.sigs != nil:
		return c.overflow.sigs
	case c.inlineSigs[0] != nil:
		return c.inlineSigs[:c.schedule.Answers()]
	}
	return nil
}

// setSignatures replaces the signatures.
func (c *candidates) setSignatures(sigs []*Signature) {
	c.inlineSigs = [maxInlineSigs]*Signature{}
	var next overflow
	if c.external {
		next.data, next.ends = c.overflow.data, c.overflow.ends
	}
	if c.overflow = nil; len(sigs) > maxInlineSigs {
		next.sigs = sigs
	} else {
		copy(c.inlineSigs[:], sigs)
	}
	if c.external || next.sigs != nil {
		c.overflow = &next
	}
}

// newAnswers returns answers with one allocation. variants is nil for a name with the same answers for all clients.
func newAnswers(balanced []candidates, variants []variantSet, sets []set) *answers {
	if variants == nil {
		a := &answers{sets: sets}
		a.balanced = append(a.storage[:0], balanced...)
		return a
	}
	with := &struct {
		answers
		list []variantSet
		room [2]variantSet
	}{answers: answers{sets: sets}}
	with.balanced = append(with.answers.storage[:0], balanced...)
	with.list = append(with.room[:0], variants...)
	with.variants = &with.list
	return &with.answers
}

// signCandidates assigns a signature to each answer. ttl is the original TTL of the signature in seconds; answers can
// have a lower TTL.
func (o *owner) signCandidates(z *Zone, c *candidates, ttl uint32) {
	if z.signer == nil || c.state != answering {
		c.setSignatures(nil)
		return
	}
	sigs := make([]*Signature, c.schedule.Answers())
	for i := range sigs {
		picks := c.schedule.AnswerMembers(i)
		data := make([][]byte, len(picks))
		for k, number := range picks {
			data[k] = c.recordData(int(number))
		}
		sigs[i] = o.cache.getOrAdd(z.signer, o.name, contentOf(c.kind.Number, ttl, data))
	}
	c.setSignatures(sigs)
}

// resignCandidates assigns signatures to candidates of the previous view. It reuses signatures of the same signer.
func (o *owner) resignCandidates(z *Zone, c *candidates) {
	if c.state != answering {
		return
	}
	ttl := c.ttl
	if sigs := c.signatures(); len(sigs) > 0 {
		ttl = sigs[0].ttl()
	}
	o.signCandidates(z, c, ttl)
}
