package dnstap

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// Numbers and types of the fields of the messages Dnstap and Message in dnstap.proto, as the tags of their encoding.
const (
	varint, fixed32, octets = 0, 5, 2 // wire types

	tagIdentity = 1<<3 | octets
	tagVersion  = 2<<3 | octets
	tagExtra    = 3<<3 | octets
	tagMessage  = 14<<3 | octets
	tagKind     = 15<<3 | varint

	tagType            = 1<<3 | varint
	tagFamily          = 2<<3 | varint
	tagProtocol        = 3<<3 | varint
	tagQueryAddress    = 4<<3 | octets
	tagResponseAddress = 5<<3 | octets
	tagQueryPort       = 6<<3 | varint
	tagResponsePort    = 7<<3 | varint
	tagQuerySeconds    = 8<<3 | varint
	tagQueryNanos      = 9<<3 | fixed32
	tagQueryMessage    = 10<<3 | octets
	tagResponseSeconds = 12<<3 | varint
	tagResponseNanos   = 13<<3 | fixed32
	tagResponseMessage = 14<<3 | octets
)

// Values of enumerations in dnstap.proto.
const (
	kindMessage  = 1
	authQuery    = 1
	authResponse = 2
	familyINET   = 1
	familyINET6  = 2
	protocolUDP  = 1
	protocolTCP  = 2
)

// Message is a query with its response.
type Message struct {
	Query    []byte
	Response []byte // nil if no response was sent
	Client   netip.AddrPort
	Server   netip.AddrPort // an unspecified address is omitted
	TCP      bool
	Received time.Time // of the query
	Sent     time.Time // of the response
	Extra    []byte    // the field "extra"; empty: omitted. At most MaxExtra octets
}

// MaxExtra is the largest size of Message.Extra in octets. MaxIdentity is the largest size of the identity and of the
// version.
const (
	MaxExtra    = 96
	MaxIdentity = 256
)

// maxHead is the largest size of a frame without the DNS message in octets: the length, the fields of the process,
// extra and the other fields.
const maxHead = lengthSize + 2*(MaxIdentity+3) + MaxExtra + 2 + maxMeta + 16

// maxMeta is the largest size of the fields of Message without the DNS message in octets.
const maxMeta = 3*2 + 2*(2+16) + 2*(1+3) + 2*(1+10+5) + 8

// appendProcess appends the fields that are equal in all messages of the process.
func appendProcess(out []byte, identity, version string) []byte {
	out = appendOctets(out, tagIdentity, identity)
	return appendOctets(out, tagVersion, version)
}

// appendMeta appends the fields of Message up to the length of the DNS message.
func (m *Message) appendMeta(out []byte, response bool) []byte {
	client, server := m.Client.Addr(), m.Server.Addr()
	family, protocol, kind := byte(familyINET6), byte(protocolUDP), byte(authQuery)
	if client.Is4() {
		family = familyINET
	}
	if m.TCP {
		protocol = protocolTCP
	}
	if response {
		kind = authResponse
	}
	out = append(out, tagType, kind, tagFamily, family, tagProtocol, protocol)
	out = appendAddress(out, tagQueryAddress, client)
	if server.IsValid() && !server.IsUnspecified() {
		out = appendAddress(out, tagResponseAddress, server)
	}
	out = binary.AppendUvarint(append(out, tagQueryPort), uint64(m.Client.Port()))
	out = binary.AppendUvarint(append(out, tagResponsePort), uint64(m.Server.Port()))
	out = appendTime(out, tagQuerySeconds, tagQueryNanos, m.Received)
	if !response {
		return binary.AppendUvarint(append(out, tagQueryMessage), uint64(len(m.Query)))
	}
	out = appendTime(out, tagResponseSeconds, tagResponseNanos, m.Sent)
	return binary.AppendUvarint(append(out, tagResponseMessage), uint64(len(m.Response)))
}

// appendHead appends a frame without the DNS message, which must follow. process holds the fields of appendProcess,
// meta the fields of appendMeta.
func appendHead(out, process, extra, meta []byte, message int) []byte {
	start := len(out)
	out = append(append(out, 0, 0, 0, 0), process...)
	if len(extra) > 0 {
		out = appendOctets(out, tagExtra, extra)
	}
	out = append(out, tagKind, kindMessage, tagMessage)
	out = append(binary.AppendUvarint(out, uint64(len(meta)+message)), meta...)
	binary.BigEndian.PutUint32(out[start:], uint32(len(out)-start-lengthSize+message))
	return out
}

func appendOctets[T string | []byte](out []byte, tag byte, value T) []byte {
	return append(binary.AppendUvarint(append(out, tag), uint64(len(value))), value...)
}

// appendAddress appends an address of 4 or 16 octets.
func appendAddress(out []byte, tag byte, address netip.Addr) []byte {
	if address.Is4() {
		a := address.As4()
		return append(append(out, tag, byte(len(a))), a[:]...)
	}
	a := address.As16()
	return append(append(out, tag, byte(len(a))), a[:]...)
}

// appendTime appends the seconds and nanoseconds of a time.
func appendTime(out []byte, seconds, nanos byte, at time.Time) []byte {
	out = binary.AppendUvarint(append(out, seconds), uint64(at.Unix()))
	return binary.LittleEndian.AppendUint32(append(out, nanos), uint32(at.Nanosecond()))
}
