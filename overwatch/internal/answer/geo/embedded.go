package geo

import "net/netip"

// Transition mechanisms that carry a client's IPv4 address inside an IPv6 one.
var (
	mapped = netip.MustParsePrefix("::ffff:0:0/96") // RFC 4291 section 2.5.5.2
	sixTo4 = netip.MustParsePrefix("2002::/16")     // RFC 3056 section 2
	teredo = netip.MustParsePrefix("2001::/32")     // RFC 4380 section 4
	nat64  = netip.MustParsePrefix("64:ff9b::/96")  // RFC 6052 section 2.1
)

// carriers are the prefixes whose addresses are placed by the IPv4 address in them.
var carriers = [...]netip.Prefix{mapped, sixTo4, teredo, nat64}

// embedded returns the IPv4 address that a is or carries, and the number of bits of a before it. ok is false for an
// IPv6 address that carries none.
func embedded(a netip.Addr) (v4 uint32, offset uint8, ok bool) {
	if a.Is4() {
		b := a.As4()
		return be32(b[:]), 0, true
	}
	b := a.As16()
	switch {
	case b[0] == 0x20 && b[1] == 0x02:
		return be32(b[2:6]), 16, true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0:
		return ^be32(b[12:]), 96, true // Teredo hides the client's address by inverting it
	case a.Is4In6(), nat64.Contains(a.WithZone("")):
		return be32(b[12:]), 96, true
	}
	return 0, 0, false
}

func be32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
