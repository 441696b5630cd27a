package publish

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// NodeAddresses returns the addresses at which resolvers can reach a node that listens on the given ones: these, and in
// place of an unspecified one the addresses of its family on this machine's interfaces. Loopback addresses are among
// them only if there are no others.
func NodeAddresses(listening []netip.AddrPort) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, at := range listening {
		address := at.Addr().Unmap().WithZone("")
		if !address.IsUnspecified() {
			out = append(out, address)
			continue
		}
		own, err := InterfaceAddresses()
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(own, func(a netip.Addr) bool {
			return a.Is4() != address.Is4() || a.IsLinkLocalUnicast() // which means nothing on another link
		})...)
	}
	slices.SortFunc(out, netip.Addr.Compare)
	out = slices.Compact(out)
	reachable := slices.DeleteFunc(slices.Clone(out), netip.Addr.IsLoopback)
	if len(reachable) > 0 {
		return reachable, nil
	}
	return out, nil
}

// InterfaceAddresses lists the addresses of this machine's interfaces, IPv4 ones as such and none with a zone.
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
