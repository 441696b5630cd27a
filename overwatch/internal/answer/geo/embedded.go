package geo

import "net/netip"

// Prefixes of IPv6 addresses that embed an IPv4 address of a client.
var (
	mapped = netip.MustParsePrefix("::ffff:0:0/96") // RFC 4291 section 2.5.5.2
	sixTo4 = netip.MustParsePrefix("2002::/16")     // RFC 3056 section 2
	teredo = netip.MustParsePrefix("2001::/32")     // RFC 4380 section 4
	nat64  = netip.MustParsePrefix("64:ff9b::/96")  // RFC 6052 section 2.1
)

// embeddingPrefixes are the prefixes of addresses that have the location of their embedded IPv4 address.
var embeddingPrefixes = [...]netip.Prefix{mapped, sixTo4, teredo, nat64}

// embeddedIPv4 returns the IPv4 address of a or embedded in a, and its bit offset in a. ok is false for an IPv6 address
// without an embedded IPv4 address.
func embeddedIPv4(a netip.Addr) (v4 uint32, offset uint8, ok bool) {
	if a.Is4() {
		b := a.As4()
		return bigEndian32(b[:]), 0, true
	}
	b := a.As16()
	switch {
	case b[0] == 0x20 && b[1] == 0x02:
		return bigEndian32(b[2:6]), 16, true
	case b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0:
		return ^bigEndian32(b[12:]), 96, true // Teredo inverts the bits of the client address
	case a.Is4In6(), nat64.Contains(a.WithZone("")):
		return bigEndian32(b[12:]), 96, true
	}
	return 0, 0, false
}

func bigEndian32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
