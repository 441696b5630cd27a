package trust

import (
	"net/netip"
	"slices"

	"gslb.internal/shared/wire"
)

// Host describes the machine of this node. Rules for the addresses of backends depend on it and on agent_policies.
type Host struct {
	// Ports are the listening ports of the node. A backend at an address of the machine cannot use them.
	Ports []uint16
	// Addresses returns the current addresses of the machine's interfaces. Loopback addresses are always included.
	// Addresses must not block. Optional.
	Addresses func() []netip.Addr
	// Loopback is true if only agents on this machine can reach the node, so that their backends may have loopback
	// addresses.
	Loopback bool
}

// listens reports whether the node listens at an address and port. A backend there would make the node check itself,
// and reveal responses to an agent that only this machine may request.
func (h *Host) listens(at netip.AddrPort) bool {
	if !slices.Contains(h.Ports, at.Port()) {
		return false
	}
	address := carried(at.Addr())
	if address.IsLoopback() || address.IsUnspecified() {
		return true
	}
	return h.Addresses != nil && slices.ContainsFunc(h.Addresses(),
		func(own netip.Addr) bool { return own.Unmap().WithZone("") == address })
}

// takes reports whether a backend may have an address.
func (h *Host) takes(at netip.AddrPort, allowed []netip.Prefix) bool {
	return h.judge(at, allowed) == 0
}

// judge returns the rule that forbids a backend at an address; 0 if there is no such rule:
//
//	allowed_cidrs                  address                                  rule
//	any                            unusable for a backend                   RuleUnusable
//	any                            a port of the node at its own address    RuleOwnListener
//	contain it                     any other                                0
//	exist and do not contain it    any                                      RuleNetworks
//	none                           loopback                                 RuleLoopback; 0 with Host.Loopback
//	none                           link-local                               RuleLinkLocal
//	none                           metadata of a cloud                      RuleMetadata
//	none                           any other                                0
func (h *Host) judge(at netip.AddrPort, allowed []netip.Prefix) wire.Rule {
	switch address := carried(at.Addr()); {
	case !usable(at.Addr()) || !usable(address):
		return wire.RuleUnusable
	case h.listens(at):
		return wire.RuleOwnListener
	case len(allowed) > 0 && !within(allowed, at.Addr()):
		return wire.RuleNetworks
	case len(allowed) > 0:
		return 0
	case address.IsLoopback() && !h.Loopback:
		return wire.RuleLoopback
	case address.IsLinkLocalUnicast():
		return wire.RuleLinkLocal
	case provider(address) != "":
		return wire.RuleMetadata
	}
	return 0
}

// TakesTarget reports whether an address of an operator's host name may be a backend. allowed contains the networks of
// the host name. If it is empty, agents contains the networks of the service's agents, and an empty list permits every
// address. TakesTarget then also rejects loopback, link-local and metadata addresses.
func (h *Host) TakesTarget(at netip.AddrPort, allowed, agents []netip.Prefix) bool {
	if len(allowed) > 0 {
		return h.takes(at, allowed)
	}
	elsewhere := *h
	elsewhere.Loopback = false
	return elsewhere.takes(at, nil) && (len(agents) == 0 || within(agents, at.Addr()))
}

// usable reports whether a backend can have the address: it is not unspecified, multicast or broadcast, and has no
// zone.
func usable(a netip.Addr) bool {
	broadcast := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	return a.IsValid() && !a.IsUnspecified() && !a.IsMulticast() && a.Unmap() != broadcast && a.Zone() == ""
}

func within(prefixes []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap()
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// carried returns the IPv4 destination of an IPv6 address: an IPv4-mapped address (RFC 4291 section 2.5.5.2), or an
// address with the well-known NAT64 prefix (RFC 6052 section 2.1). It returns other addresses unchanged.
func carried(a netip.Addr) netip.Addr {
	if a = a.Unmap(); !nat64.Contains(a) {
		return a
	}
	octets := a.As16()
	return netip.AddrFrom4([4]byte(octets[12:]))
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// metadata maps networks of cloud metadata services, other than link-local networks, to the provider.
var metadata = [...]struct {
	network  netip.Prefix
	provider string
}{
	{netip.MustParsePrefix("fd00:ec2::/32"), "AWS: instance metadata, pod identity, DNS and time"},
	{netip.MustParsePrefix("168.63.129.16/32"), "Azure: wire server"},
	{netip.MustParsePrefix("fd20:ce::254/128"), "Google Cloud"},
	{netip.MustParsePrefix("100.100.100.200/32"), "Alibaba Cloud"},
	{netip.MustParsePrefix("fd00:100::100:200/128"), "Alibaba Cloud"},
	{netip.MustParsePrefix("192.0.0.192/32"), "Oracle Cloud, classic"},
	{netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), "Oracle Cloud"},
	{netip.MustParsePrefix("fd00:42::42/128"), "Scaleway"},
	{netip.MustParsePrefix("fd00:a9fe:a9fe::1/128"), "Akamai (Linode)"},
}

// provider returns the cloud provider of the metadata service at an address, or "".
func provider(a netip.Addr) string {
	for i := range metadata {
		if metadata[i].network.Contains(a) {
			return metadata[i].provider
		}
	}
	return ""
}
