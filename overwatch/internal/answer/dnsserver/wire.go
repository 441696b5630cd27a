package dnsserver

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

const (
	headerSize = 12
	maxName    = 255 // maximum octets of a name in wire form (RFC 1035 section 2.3.4)
	maxLabel   = 63
)

// Flags of the header.
const (
	flagResponse      = 1 << 15
	flagAuthoritative = 1 << 10
	flagTruncated     = 1 << 9
	flagRecursion     = 1 << 8 // desired
	opcodeMask        = 0xF << 11
)

// header is a message of at least twelve octets, which starts with the message header.
type header []byte

func (h header) flags() uint16      { return binary.BigEndian.Uint16(h[2:]) }
func (h header) opcode() int        { return int(h.flags()&opcodeMask) >> 11 }
func (h header) questions() uint16  { return binary.BigEndian.Uint16(h[4:]) }
func (h header) answers() uint16    { return binary.BigEndian.Uint16(h[6:]) }
func (h header) authority() uint16  { return binary.BigEndian.Uint16(h[8:]) }
func (h header) additional() uint16 { return binary.BigEndian.Uint16(h[10:]) }

// setReply changes the copied header of a query to the header of its response. The id, opcode and RD flag are
// preserved.
func (h header) setReply(rcode int, flags, questions, answers, authority, additional uint16) {
	flags |= flagResponse | h.flags()&(opcodeMask|flagRecursion) | uint16(rcode&0xF)
	binary.BigEndian.PutUint16(h[2:], flags)
	binary.BigEndian.PutUint16(h[4:], questions)
	binary.BigEndian.PutUint16(h[6:], answers)
	binary.BigEndian.PutUint16(h[8:], authority)
	binary.BigEndian.PutUint16(h[10:], additional)
}

// readName copies the uncompressed name at the offset into name, in lower case. It returns the length in octets,
// including the root label, and the number of labels. ok is false for a name that exceeds the bounds or is compressed.
func readName(msg []byte, offset int, name *[maxName]byte) (length, labels int, ok bool) {
	for {
		if offset+length >= len(msg) {
			return 0, 0, false
		}
		n := int(msg[offset+length])
		if n > maxLabel || length+1+n+1 > maxName && n > 0 || offset+length+1+n > len(msg) {
			return 0, 0, false
		}
		name[length] = byte(n)
		length++
		if n == 0 {
			return length, labels, true
		}
		for _, c := range msg[offset+length:][:n] {
			if c-'A' < 26 {
				c |= 0x20
			}
			name[length] = c
			length++
		}
		labels++
	}
}

// skipName returns the offset after the name at the offset. The name may be compressed; pointers are not followed.
func skipName(msg []byte, offset int) (next int, ok bool) {
	for offset < len(msg) {
		switch n := int(msg[offset]); {
		case n == 0:
			return offset + 1, true
		case n >= 0xC0:
			return offset + 2, offset+2 <= len(msg)
		case n > maxLabel:
			return 0, false
		default:
			offset += 1 + n
		}
	}
	return 0, false
}

// extendedError returns the extended error code (RFC 8914) for a response code; 0 if missing.
func extendedError(rcode int) uint16 {
	switch rcode {
	case dns.RcodeServerFailure:
		return dns.ExtendedErrorCodeNoReachableAuthority
	case dns.RcodeRefused:
		return dns.ExtendedErrorCodeNotAuthoritative
	}
	return 0
}
