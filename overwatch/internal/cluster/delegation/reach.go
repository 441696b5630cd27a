package delegation

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// noWay reports whether a query to a server failed because this machine has no network of the server's address family.
// The other addresses of the server then decide. own returns the addresses of this machine.
//
//	error           where it comes from
//	ENETUNREACH     no route to the address
//	EAFNOSUPPORT    the kernel has no IPv6
//	EADDRNOTAVAIL   IPv6 is switched off (net.ipv6.conf.*.disable_ipv6); also a want of ports, in either family
//
// EAFNOSUPPORT and EADDRNOTAVAIL have this meaning only if own has no non-local address of the family.
func noWay(err error, server string, own func() ([]net.Addr, error)) bool {
	switch {
	case errors.Is(err, syscall.ENETUNREACH):
		return true
	case !errors.Is(err, syscall.EAFNOSUPPORT) && !errors.Is(err, syscall.EADDRNOTAVAIL):
		return false
	}
	target, failed := netip.ParseAddrPort(server)
	if failed != nil {
		return false
	}
	addresses, failed := own()
	return failed == nil && !slices.ContainsFunc(addresses, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().IsGlobalUnicast() && prefix.Addr().Is4() == target.Addr().Unmap().Is4()
	})
}

// NoServer reports whether an error of SignedBy or OffersNoKey means that no server accepts connections at the address:
// the machine or a firewall rejects them. It returns false for a timeout and for wrong answers.
func NoServer(err error) bool {
	failed, is := errors.AsType[*net.OpError](err)
	return is && failed.Op == "dial" && (errors.Is(failed, syscall.ECONNREFUSED) ||
		errors.Is(failed, syscall.EHOSTUNREACH) || errors.Is(failed, syscall.ENETUNREACH))
}
