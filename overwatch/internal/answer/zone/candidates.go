package zone

import (
	"bytes"
	"encoding/binary"
	"net"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/policy"
)

// state is the kind of answer that a steered name gives for one record type.
type state uint8

const (
	failing   state = iota // SERVFAIL: nothing may serve; the state of a name that was not decided yet
	noData                 // no record of this type
	answering              // the records of a schedule, in turn
)

// candidates holds the records of one type that a steered name may answer, and the schedule of their turns; immutable.
// Fields that most queries need come first.
type candidates struct {
	schedule *policy.Schedule // over the records
	kind     *Type
	edition  uint32 // tells one set of records from the next; see Turns
	ttl      uint32 // seconds
	turn     uint32 // index in Turns of the position in the schedule
	state    state
	inside   bool           // a record is an alias for a name of the zone
	far      bool           // the data is in more
	near     [nearData]byte // else: that of one record after the other
	sigs     [nearSigs]*Signature
	more     *more // nil: near and sigs have all
}

const (
	nearData = 16 // octets: four A, one AAAA
	nearSigs = 4
)

// more holds data and signatures that candidates has no room for; immutable.
type more struct {
	data []byte
	ends []int // where each record's data ends; nil: all are of the type's length
	sigs []*Signature
}

// MaxAnswers bounds the addresses in an answer, of either family.
const MaxAnswers = MaxSet / (2 + fixedPart + net.IPv6len)

// compile makes the candidates of a type from a decision.
func (z *Zone) compile(
	kind *Type,
	decision *policy.Decision,
	answers int,
	schedules *policy.Scheduler,
) candidates {
	switch {
	case len(decision.Due) > 0:
	case decision.Outcome == policy.NoData:
		return candidates{kind: kind, state: noData}
	default:
		return candidates{kind: kind, state: failing}
	}
	out := candidates{
		kind: kind, state: answering, schedule: schedules.For(turnsOf(decision), answers), ttl: decision.TTL,
	}
	data, ends := out.near[:0], []int(nil)
	if size := len(decision.Due) * kind.Length; size > nearData {
		data = make([]byte, 0, size)
	}
	for _, due := range decision.Due {
		begin := len(data)
		if data = kind.Data(data, due); kind.Length == 0 {
			out.inside = out.inside || kind.Number == dns.TypeCNAME && canonical(data[begin:]).within(z.apex)
			ends = append(ends, len(data))
		}
	}
	if len(data) > nearData || ends != nil {
		out.far, out.more = true, &more{data: data, ends: ends}
	}
	return out
}

// turnsOf returns the shares by which answers take turns. Where the client's network decides which address leads, the
// shares are equal and the schedule only says which follow: its n-th position is led by the n-th address.
func turnsOf(d *policy.Decision) []policy.Due {
	if !d.Hashed {
		return d.Due
	}
	alike := make([]policy.Due, len(d.Due))
	for i := range alike {
		alike[i] = policy.Due{Address: d.Due[i].Address, Parts: 1}
	}
	return alike
}

// length returns the octets of the packed records at a position of the schedule.
func (c *candidates) length(position uint32) (octets int) {
	octets = c.schedule.Size() * (2 + fixedPart + c.kind.Length)
	if c.kind.Length == 0 {
		for k := range c.schedule.Size() {
			octets += len(c.one(c.schedule.Pick(position, k)))
		}
	}
	return octets
}

// appendRecords packs the records at a position of the schedule. owner is a pointer to their owner's name.
func (c *candidates) appendRecords(msg []byte, owner uint16, position uint32) []byte {
	// The owner, type, class and TTL of each, the length of its data, and that.
	head := uint64(owner)<<48 | uint64(c.kind.Number)<<32 | classIN<<16 | uint64(c.ttl>>16)
	for k := range c.schedule.Size() {
		data := c.one(c.schedule.Pick(position, k))
		tail := c.ttl<<16 | uint32(len(data))
		msg = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(msg, head), tail)
		msg = append(msg, data...)
	}
	return msg
}

// data returns the data of all records that may be answered, one after the other, in the order of the decision.
func (c *candidates) data() []byte {
	if c.far {
		return c.more.data
	}
	return c.near[:]
}

// one returns the data of one record.
func (c *candidates) one(number int) []byte {
	length := c.kind.Length
	if length > 0 {
		return c.data()[number*length : (number+1)*length]
	}
	begin := 0
	if number > 0 {
		begin = c.more.ends[number-1]
	}
	return c.more.data[begin:c.more.ends[number]]
}

// same reports whether both give the same answers in the same turns.
func (c *candidates) same(other *candidates) bool {
	return c.kind == other.kind && c.state == other.state && c.schedule == other.schedule && c.ttl == other.ttl &&
		c.near == other.near && c.far == other.far &&
		(!c.far || bytes.Equal(c.more.data, other.more.data))
}

// signature returns the signature of an answer of the schedule, nil where the zone is not signed.
func (c *candidates) signature(answer int) *Signature {
	if c.more != nil && c.more.sigs != nil {
		return c.more.sigs[answer]
	}
	if answer < nearSigs {
		return c.sigs[answer]
	}
	return nil
}

// signatures returns the signatures of all answers, none where the zone is not signed.
func (c *candidates) signatures() []*Signature {
	switch {
	case c.more != nil && c.more.sigs != nil:
		return c.more.sigs
	case c.sigs[0] != nil:
		return c.sigs[:c.schedule.Answers()]
	}
	return nil
}

// keep replaces the signatures.
func (c *candidates) keep(sigs []*Signature) {
	c.sigs = [nearSigs]*Signature{}
	var next more
	if c.far {
		next.data, next.ends = c.more.data, c.more.ends
	}
	if c.more = nil; len(sigs) > nearSigs {
		next.sigs = sigs
	} else {
		copy(c.sigs[:], sigs)
	}
	if c.far || next.sigs != nil {
		c.more = &next
	}
}

// answersWith makes answers of its arguments in one allocation. where is nil for a name that answers all clients alike.
func answersWith(steered []candidates, where []placed, sets []set) *answers {
	if where == nil {
		a := &answers{sets: sets}
		a.steered = append(a.room[:0], steered...)
		return a
	}
	with := &struct {
		answers
		list []placed
		room [2]placed
	}{answers: answers{sets: sets}}
	with.steered = append(with.answers.room[:0], steered...)
	with.list = append(with.room[:0], where...)
	with.placed = &with.list
	return &with.answers
}

// sign gives each answer its signature, for records with this TTL; records may be sent with a lower one.
func (o *owner) sign(z *Zone, c *candidates, ttl uint32) {
	if z.signer == nil || c.state != answering {
		c.keep(nil)
		return
	}
	sigs := make([]*Signature, c.schedule.Answers())
	for i := range sigs {
		picks := c.schedule.Members(i)
		data := make([][]byte, len(picks))
		for k, number := range picks {
			data[k] = c.one(int(number))
		}
		sigs[i] = o.cache.at(z.signer, o.name, contentOf(c.kind.Number, ttl, data))
	}
	c.keep(sigs)
}

// signAgain gives answers from the view before their signatures: the same ones if the signer is the same.
func (o *owner) signAgain(z *Zone, c *candidates) {
	if c.state != answering {
		return
	}
	ttl := c.ttl
	if sigs := c.signatures(); len(sigs) > 0 {
		ttl = sigs[0].ttl()
	}
	o.sign(z, c, ttl)
}
