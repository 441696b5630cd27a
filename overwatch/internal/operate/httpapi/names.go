package httpapi

import (
	"net/netip"
	"strings"

	"gslb.internal/shared/settings"
)

// checkLabel refuses a text that cannot name a region or an agent. limit is in octets.
func checkLabel(name string, limit int) error {
	if name == "" {
		return badRequest("name is missing: it must be 1 to %d letters, digits, hyphens, underscores and dots", limit)
	}
	if remedy := settings.LabelRemedy(name, limit); remedy != "" {
		return badRequest("name is %.64q: %s", name, remedy)
	}
	return nil
}

// parseAddress reads an address with or without brackets. An IPv4-mapped address becomes IPv4; a zone is refused,
// since it means nothing outside one machine.
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
