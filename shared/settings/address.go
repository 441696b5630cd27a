package settings

import (
	"net"
	"net/netip"
	"strconv"
)

// Listener is a local address to listen on.
type Listener struct {
	Addr netip.Addr // the zero Addr means all addresses of the machine
	Port uint16     // 0: the system selects a port; for loopback only, since other machines cannot know the port
	// OneFamily means that "[::]" covers all IPv6 addresses only, as for FamilyNetwork. Without OneFamily, "[::]" covers
	// the IPv4 addresses also, as for ListenNetwork.
	OneFamily bool
}

// ParseListener parses the address of a listener: an IP address and a port, or only a port as in ":53". Port 0 requires
// a loopback address. For an invalid text, remedy states how to correct it.
func ParseListener(text string) (l Listener, remedy string) {
	const form = "give an IP address and a port, such as 127.0.0.1:8080, [::1]:8080, or :53 for every address"
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return l, form
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return l, "give a port from 1 to 65535 behind the last colon"
	}
	l.Port = uint16(n)
	if host != "" {
		addr, err := netip.ParseAddr(host)
		if l.Addr = addr.Unmap(); err != nil || l.Addr.IsMulticast() {
			return Listener{}, form
		}
	}
	if n == 0 && !l.Addr.IsLoopback() {
		return Listener{}, "with port 0 it is another one at each start, which nobody can know: give a port from 1 to 65535"
	}
	return l, ""
}

// Overlaps reports whether the system would reject the second of two listeners of the same protocol.
func (l Listener) Overlaps(other Listener) bool {
	if l.Port != other.Port || l.Port == 0 {
		return false
	}
	shared := l.has(false) && other.has(false) || l.has(true) && other.has(true)
	return shared && (l.Addr == other.Addr || l.every() || other.every())
}

// every reports whether the listener covers all addresses of a family.
func (l Listener) every() bool { return !l.Addr.IsValid() || l.Addr.IsUnspecified() }

// has reports whether the listener covers IPv4 addresses (four) or IPv6 addresses.
func (l Listener) has(four bool) bool {
	both := !l.Addr.IsValid() || l.Addr == netip.IPv6Unspecified() && !l.OneFamily
	return both || l.Addr.Is4() == four
}

// ListenNetwork returns the network of package net for a listener of a protocol, "tcp" or "udp". An IPv4 address,
// including 0.0.0.0, means IPv4 only; package net would open both families. "[::]" or only a port means both families.
func ListenNetwork(protocol, address string) string {
	if at, ok := listenAddr(address); ok && at.Is4() {
		return protocol + "4"
	}
	return protocol
}

// FamilyNetwork is ListenNetwork for listeners with "[::]" as IPv6 only. Only a port means both families.
func FamilyNetwork(protocol, address string) string {
	if at, ok := listenAddr(address); ok && at.Is6() {
		return protocol + "6"
	}
	return ListenNetwork(protocol, address)
}

// listenAddr returns the IP address of a listener's address, and false if the host is not an IP address.
func listenAddr(address string) (netip.Addr, bool) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return netip.Addr{}, false
	}
	at, err := netip.ParseAddr(host)
	return at.Unmap(), err == nil
}

// HostPortRemedy validates the address of another machine: a domain name or IP address and a port. It returns "" for a
// valid address, or else how to correct the text.
func HostPortRemedy(text string) string {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "give a host and a port, such as overwatch-1.example.com:7946, 192.0.2.1:7946 or [2001:db8::1]:7946"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "give a port from 1 to 65535 behind the last colon"
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return UnicastRemedy(addr)
	}
	_, remedy := ParseName(host)
	return remedy
}

// UnicastRemedy validates the address of a machine. It returns "" for a valid address, or else how to correct it.
func UnicastRemedy(addr netip.Addr) string {
	switch {
	case addr.IsUnspecified():
		return "this stands for every address: give the one of the machine"
	case addr.IsMulticast():
		return "this is a multicast address: give the one of a single machine"
	case addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "this is the broadcast address: give the one of a single machine"
	}
	return ""
}
