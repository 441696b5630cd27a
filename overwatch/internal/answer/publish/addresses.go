package publish

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// NodeAddresses returns the addresses at which resolvers can reach a node that listens on the given addresses. An
// unspecified address represents the addresses of its family on this machine's interfaces. The result has the public
// addresses, or else the private addresses, or else the loopback addresses.
func NodeAddresses(listening []netip.AddrPort) ([]netip.Addr, error) {
	var own []netip.Addr // of this machine's interfaces, listed once
	for _, at := range listening {
		if own != nil || !at.Addr().IsUnspecified() {
			continue
		}
		var err error
		if own, err = InterfaceAddresses(); err != nil {
			return nil, err
		}
	}
	return reachable(listening, own), nil
}

// reachable is NodeAddresses for a machine with the interface addresses own.
func reachable(listening []netip.AddrPort, own []netip.Addr) []netip.Addr {
	var all []netip.Addr
	for _, at := range listening {
		address := at.Addr().Unmap().WithZone("")
		if !address.IsUnspecified() {
			all = append(all, address)
			continue
		}
		for _, a := range own {
			if a.Is4() == address.Is4() && !a.IsLinkLocalUnicast() { // a link-local address means nothing on another link
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	all = slices.Compact(all)
	for _, unwanted := range []func(netip.Addr) bool{
		func(a netip.Addr) bool { return a.IsLoopback() || isPrivate(a) }, netip.Addr.IsLoopback,
	} {
		if wanted := slices.DeleteFunc(slices.Clone(all), unwanted); len(wanted) > 0 {
			return wanted
		}
	}
	return all
}

// sharedSpace is the address space between a provider and its customers (RFC 6598).
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// isPrivate reports whether an address is outside the public Internet: private (RFC 1918), unique local (RFC 4193),
// shared (RFC 6598) or link-local.
func isPrivate(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

// InterfaceAddresses lists the addresses of this machine's interfaces, without zones and without IPv4-mapped forms.
func InterfaceAddresses() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing this machine's addresses: %w", err)
	}
	var out []netip.Addr
	for _, a := range found {
		network, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if address, ok := netip.AddrFromSlice(network.IP); ok {
			out = append(out, address.Unmap())
		}
	}
	return out, nil
}
