package dnsserver

import (
	"encoding/binary"
	"net/netip"
)

// Offsets into a client subnet option (RFC 7871 section 6).
const (
	sourceOffset  = 2
	scopeOffset   = 3
	addressOffset = 4
)

// correctSubnet reports whether a client subnet option is correct for a query (RFC 7871 section 7.1.2): a known family,
// scope 0, just as many octets of address as the source prefix needs, and no bits beyond it.
func correctSubnet(value []byte) bool {
	if len(value) < addressOffset {
		return false
	}
	var longest int
	switch binary.BigEndian.Uint16(value) {
	case 0: // "no family", with no address
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

// subnetAddress returns the first address of the network in a correct option.
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

// setScope sets the scope of the reply: the number of bits of the client's address that the records depend on. If the
// client subnet option has no address, the scope is 0 (RFC 7871 section 7.2.1).
func (e *edns) setScope(bits uint8) {
	if e.subnet != nil && e.subnet[sourceOffset] > 0 {
		e.scope = bits
	}
}
