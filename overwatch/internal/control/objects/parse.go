// Package objects validates and edits the objects of the API: domains, regions, mappings, servers and agents. It reads
// the configuration file and the definitions. Its callers store the objects.
package objects

import (
	"fmt"
	"net/netip"
	"strings"

	"gslb.internal/overwatch/internal/control/fault"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/model"
	"gslb.internal/shared/settings"
)

// CheckLabel rejects a text that cannot be the name of a region or an agent. limit is in octets.
func CheckLabel(name string, limit int) error {
	if name == "" {
		return fault.Invalidf("name is missing: it must be 1 to %d letters, digits, hyphens, underscores and dots",
			limit)
	}
	if remedy := settings.LabelRemedy(name, limit); remedy != "" {
		return fault.Invalidf("name is %.64q: %s", name, remedy)
	}
	return nil
}

// CheckText rejects an empty text, a text with more than limit characters, and characters that would disturb a terminal
// or a log.
func CheckText(field, text string, limit int) error {
	return fault.FromCheck(definitions.CheckText(field, text, limit))
}

// ParseAddress parses an address with or without brackets. It converts an IPv4-mapped address to IPv4, and rejects a
// zone, because a zone is local to a machine.
func ParseAddress(text string) (netip.Addr, error) {
	bare := text
	if inner, ok := strings.CutPrefix(text, "["); ok {
		bare = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(bare)
	if err != nil || addr.Zone() != "" || (bare != text && addr.Is4()) {
		return netip.Addr{}, fault.Invalidf("address %.64q: it must be an IPv4 or IPv6 address", text)
	}
	return addr.Unmap(), nil
}

// ParseNetwork parses a network in canonical form. It rejects bits beyond the prefix length, as in the configuration.
func ParseNetwork(text string) (netip.Prefix, error) { return NetworkOf("cidr", text) }

// NetworkOf parses the network of a field in canonical form.
func NetworkOf(field, text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fault.Invalidf("%s is %.64q: it must be a network such as 192.0.2.0/24 or 2001:db8::/32", field,
			text)
	}
	if network != network.Masked() {
		return network,
			fault.Invalidf("%s is %.64q: the address has bits behind the prefix: give %s, or %s for that one "+
				"address", field, text, network.Masked(), netip.PrefixFrom(network.Addr(), network.Addr().BitLen()))
	}
	return model.Network(network), nil
}

// ParseID parses the id of a backend. It rejects the id of a server with a host name.
func ParseID(text string) (registry.ID, error) {
	if t, err := definitions.ParseTargetID(text); err == nil {
		return registry.ID{},
			fault.Invalidf("id is %.300q, with the host name %q: give the id of one of its addresses, "+
				"such as app.example.com:192.0.2.1:443", text, t.Name)
	}
	id, err := registry.ParseID(text)
	if err != nil {
		return registry.ID{}, fault.Invalidf("%v", err)
	}
	return id, nil
}

// ShortList lists at most twenty names for an error.
func ShortList(names []string) string {
	const shown = 20
	switch {
	case len(names) == 0:
		return "the configured regions, and there are none"
	case len(names) > shown:
		return strings.Join(names[:shown], ", ") + fmt.Sprintf(" or %d others", len(names)-shown)
	}
	return strings.Join(names, ", ")
}
