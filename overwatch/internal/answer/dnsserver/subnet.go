package dnsserver

import (
	"encoding/binary"
	"net/netip"
)

// Offsets in a client subnet option (RFC 7871 section 6).
const (
	sourceOffset  = 2
	scopeOffset   = 3
	addressOffset = 4
)

// isValidSubnet reports whether the client subnet option of a query is valid (RFC 7871 section 7.1.2): a known family,
// scope 0, and exactly the address octets and bits of the source prefix.
func isValidSubnet(value []byte) bool {
	if len(value) < addressOffset {
		return false
	}
	var longest int
	switch binary.BigEndian.Uint16(value) {
	case 0: // no family and no address
	case 1:
		longest = 32
	case 2:
		longest = 128
	default:
		return false
	}
	source, address := int(value[sourceOffset]), value[addressOffset:]
	if source > longest || value[scopeOffset] != 0 || len(address) != (source+7)/8 {
		return false
	}
	return source%8 == 0 || address[len(address)-1]<<(source%8) == 0
}

// subnetAddress returns the first address of the network of a valid option.
func subnetAddress(value []byte) netip.Addr {
	if binary.BigEndian.Uint16(value) == 1 {
		var octets [4]byte
		copy(octets[:], value[addressOffset:])
		return netip.AddrFrom4(octets)
	}
	var octets [16]byte
	copy(octets[:], value[addressOffset:])
	return netip.AddrFrom16(octets)
}

// setScope sets the scope prefix length of the reply: the number of client address bits that selected the records. It
// remains 0 if the option has no address (RFC 7871 section 7.2.1).
func (e *edns) setScope(bits uint8) {
	if e.subnet != nil && e.subnet[sourceOffset] > 0 {
		e.scope = bits
	}
}
