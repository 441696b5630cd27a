package zone

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

const (
	headerSize   = 12
	pointerFlag  = 0xC000
	questionName = pointerFlag | headerSize // a pointer to the name in the question
	maxPointer   = 1<<14 - 1                // greatest offset that a pointer can have
	classIN      = dns.ClassINET
)

// packer writes records as answers have them. Names are compressed by a rule that needs no search: an owner that is the
// question's name becomes a pointer to the question, other names in the zone end in a pointer to the apex, which every
// question in the zone contains, and all other names are written out.
type packer struct {
	apex     canonical
	wire     []byte
	pointers []uint16 // offsets in wire of pointers to the apex
}

// record appends rr. An empty owner stands for the question's name.
func (p *packer) record(owner canonical, rr dns.RR) error {
	if owner == "" {
		p.wire = binary.BigEndian.AppendUint16(p.wire, questionName)
	} else {
		p.name([]byte(owner))
	}
	return p.content(rr)
}

// content appends what stands behind the owner of rr.
func (p *packer) content(rr dns.RR) error {
	data, err := dataOf(rr)
	if err != nil {
		return err
	}
	header := rr.Header()
	p.wire = binary.BigEndian.AppendUint16(p.wire, header.Rrtype)
	p.wire = binary.BigEndian.AppendUint16(p.wire, classIN)
	p.wire = binary.BigEndian.AppendUint32(p.wire, header.Ttl)
	length := len(p.wire)
	p.wire = append(p.wire, 0, 0)
	layout := compressible[header.Rrtype]
	p.wire = append(p.wire, data[:layout.skip]...)
	data = data[layout.skip:]
	for range layout.names {
		n := nameLength(data)
		p.name(data[:n])
		data = data[n:]
	}
	p.wire = append(p.wire, data...)
	binary.BigEndian.PutUint16(p.wire[length:], uint16(len(p.wire)-length-2))
	return nil
}

// name appends an uncompressed name in wire form, compressed by the rule; the case of what is written out stays.
func (p *packer) name(wire []byte) {
	low := append([]byte(nil), wire...)
	lower(low)
	if len(p.apex) == 1 || !canonical(low).within(p.apex) {
		p.wire = append(p.wire, wire...)
		return
	}
	p.wire = append(p.wire, wire[:len(wire)-len(p.apex)]...)
	p.pointers = append(p.pointers, uint16(len(p.wire)))
	p.wire = append(p.wire, 0, 0)
}

// point fills in the pointers in wire. The apex is at the end of the question's name; question and apex are the octets
// of both.
func point(wire []byte, pointers []uint16, question, apex int) {
	for _, at := range pointers {
		binary.BigEndian.PutUint16(wire[at:], uint16(pointerFlag|headerSize+question-apex))
	}
}
