package frame

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

const (
	// MinPacket is the length in octets below which no packet can hold a message.
	MinPacket = 42
	// SafePacket is the UDP payload that every IPv6 path, and nearly every IPv4 path, carries without fragments, which
	// many firewalls drop (RFC 8200 section 5). gslb sends no longer packets.
	SafePacket = 1232
	// MaxPacket is the longest accepted packet: the UDP payload of a full Ethernet frame over IPv4,
	// which earlier versions sent.
	MaxPacket = 1472
)

// OpenPacket checks size, label and encryption of a packet, cheapest first, and returns the decrypted octets appended
// to dst. It stores no reference to b.
func (k *Keyring) OpenPacket(dst, b []byte) ([]byte, Fault) {
	if len(b) < MinPacket || len(b) > MaxPacket {
		return nil, Size
	}
	if !bytes.HasPrefix(b, k.lead) {
		return nil, Label
	}
	sealed := b[len(k.lead):]
	if len(sealed) <= cipherOverhead {
		return nil, Size
	}
	if sealed[0] != cipherVersion {
		return nil, Cipher
	}
	plain, ok := k.open(dst, sealed, k.label)
	if !ok {
		return nil, Key
	}
	return plain, None
}

const checksumSize = 5 // message type and CRC-32

// ParsePacket parses the messages of a decrypted packet. It accepts a message, or a compound of messages without user
// messages, each with or without a preceding checksum. It rejects trailing data.
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
	lengths := c.nextOctets(2 * parts)
	if c.failed || parts == 0 {
		return false
	}
	for i := range parts {
		part := c.nextOctets(int(binary.BigEndian.Uint16(lengths[2*i:])))
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

// Fault is the reason why a packet or stream was rejected. The values are a closed set, suitable for a metric label.
type Fault string

const (
	// None means that the packet or stream was accepted.
	None Fault = ""
	// Size means shorter than any valid message or longer than the limit.
	Size Fault = "size"
	// Label means another label: another program, another major version or random data.
	Label Fault = "label"
	// Cipher means not encrypted, or not with encryption version 1.
	Cipher Fault = "cipher"
	// Key means encrypted with an unknown key, or damaged.
	Key Fault = "key"
	// Malformed means encrypted with a known key, but not a message that memberlist would send.
	Malformed Fault = "malformed"
	// Incomplete means that the peer closed the stream or timed out before all announced octets
	// arrived.
	Incomplete Fault = "incomplete"
)
