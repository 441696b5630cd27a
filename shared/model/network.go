package model

import "net/netip"

// Network returns the canonical form of a network: an IPv4-mapped one as IPv4, with no bit set beyond its length.
func Network(p netip.Prefix) netip.Prefix {
	const mapped = 96 // bits of ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)
	if p.Addr().Is4In6() && p.Bits() >= mapped {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
	}
	return p.Masked()
}
