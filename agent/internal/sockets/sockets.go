package sockets

import "net/netip"

// Set is a set of local addresses and ports. An unspecified address (0.0.0.0 or ::) means all local addresses.
type Set map[netip.AddrPort]struct{}

// Has reports whether a connection to an address of this machine reaches a socket of the set. A socket at :: also
// accepts connections to IPv4 addresses, so Has ignores the option IPV6_V6ONLY.
func (s Set) Has(at netip.AddrPort) bool {
	addr := at.Addr().Unmap()
	for _, one := range [...]netip.Addr{addr, netip.IPv6Unspecified(), netip.IPv4Unspecified()} {
		if one == netip.IPv4Unspecified() && !addr.Is4() {
			continue
		}
		if _, found := s[netip.AddrPortFrom(one, at.Port())]; found {
			return true
		}
	}
	return false
}
