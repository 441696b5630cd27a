package frame

import (
	"encoding/binary"
	"hash/crc32"
)

const checksumSize = 5 // message type and CRC-32

// ParsePacket reads the messages of a decrypted packet. It accepts one message, or one compound of messages that are
// not user messages, with or without a checksum in front, and nothing behind.
func ParsePacket(plain []byte) (Packet, Fault) {
	if len(plain) >= checksumSize && Kind(plain[0]) == checksum {
		body := plain[checksumSize:]
		if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(plain[1:]) {
			return Packet{}, Malformed
		}
		plain = body
	}
	var p Packet
	ok := false
	switch {
	case len(plain) == 0:
	case Kind(plain[0]) == compound:
		ok = p.addParts(plain[1:])
	case Kind(plain[0]) == User:
		p.User, p.Kinds, p.Single, ok = plain[1:], Of(User), true, len(plain) > 1
	default:
		p.Single, ok = true, p.add(plain)
	}
	if !ok {
		return Packet{}, Malformed
	}
	return p, None
}

// addParts reads a compound: the number of parts, their lengths, the parts.
func (p *Packet) addParts(b []byte) bool {
	c := cursor{rest: b}
	parts := int(c.octet())
	lengths := c.take(2 * parts)
	if c.failed || parts == 0 {
		return false
	}
	for i := range parts {
		part := c.take(int(binary.BigEndian.Uint16(lengths[2*i:])))
		if len(part) == 0 || !p.add(part) {
			return false
		}
	}
	return len(c.rest) == 0
}

// add reads one message that is neither a compound nor a user message.
func (p *Packet) add(b []byte) bool {
	k, c := Kind(b[0]), cursor{rest: b[1:]}
	switch k {
	case Ping:
		v := pingRecord.read(&c)
		p.Sequence, p.Target, p.ReplyPort, p.SourceNode = uint32(v[0].integer), v[1].octets, uint16(v[3].integer), v[4].octets
	case Ack:
		v := ackRecord.read(&c)
		p.AckPayload = v[1].octets
	case Suspect, Dead:
		suspectRecord.read(&c)
	case Alive:
		v := aliveRecord.read(&c)
		if len(v[5].octets) != versions || !addressLength(v[2].octets) {
			return false
		}
	default:
		return false
	}
	p.Kinds |= Of(k)
	return !c.failed && len(c.rest) == 0
}

// addressLength reports whether the octets have the length of an IPv4 or IPv6 address.
func addressLength(a []byte) bool { return len(a) == 4 || len(a) == 16 }
