package zone

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

const (
	headerSize   = 12
	pointerFlag  = 0xC000
	questionName = pointerFlag | headerSize // pointer to the name in the question
	maxPointer   = 1<<14 - 1                // largest offset of a compression pointer
	classIN      = dns.ClassINET
)

// packer writes records in the form of answers. It compresses names without a search: an owner equal to the question's
// name becomes a pointer to the question, other names in the zone end with a pointer to the apex, which is the end of
// the question's name, and names outside the zone are uncompressed.
type packer struct {
	apex     canonical
	wire     []byte
	pointers []uint16 // offsets in wire of the pointers to the apex
}

// appendRecord appends rr. An empty owner is the question's name.
func (p *packer) appendRecord(owner canonical, rr dns.RR) error {
	if owner == "" {
		p.wire = binary.BigEndian.AppendUint16(p.wire, questionName)
	} else {
		p.appendName([]byte(owner))
	}
	return p.appendContent(rr)
}

// appendContent appends type, class, TTL and data of rr.
func (p *packer) appendContent(rr dns.RR) error {
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
		p.appendName(data[:n])
		data = data[n:]
	}
	p.wire = append(p.wire, data...)
	binary.BigEndian.PutUint16(p.wire[length:], uint16(len(p.wire)-length-2))
	return nil
}

// appendName appends a name and compresses it. It preserves the case of uncompressed labels.
func (p *packer) appendName(wire []byte) {
	low := append([]byte(nil), wire...)
	lowerCase(low)
	if len(p.apex) == 1 || !canonical(low).isWithin(p.apex) {
		p.wire = append(p.wire, wire...)
		return
	}
	p.wire = append(p.wire, wire[:len(wire)-len(p.apex)]...)
	p.pointers = append(p.pointers, uint16(len(p.wire)))
	p.wire = append(p.wire, 0, 0)
}

// setApexPointers sets the pointers to the apex. The apex is the end of the question's name. question and apex are the
// lengths of both names in octets.
func setApexPointers(wire []byte, pointers []uint16, question, apex int) {
	for _, at := range pointers {
		binary.BigEndian.PutUint16(wire[at:], uint16(pointerFlag|headerSize+question-apex))
	}
}
