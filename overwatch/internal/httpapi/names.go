package httpapi

import (
	"net/netip"
	"strings"
)

// canonicalName is a DNS name as the registry and the configuration keep it.
func canonicalName(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// parseAddress reads an address with or without brackets. An IPv4-mapped
// address is the IPv4 one; a zone means nothing outside one machine.
func parseAddress(text string) (netip.Addr, error) {
	bare := text
	if inner, ok := strings.CutPrefix(text, "["); ok {
		bare = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(bare)
	if err != nil || addr.Zone() != "" || (bare != text && addr.Is4()) {
		return netip.Addr{}, badRequest("address %.64q: it must be an IPv4 or IPv6 address", text)
	}
	return addr.Unmap(), nil
}
