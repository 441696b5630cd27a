package gossip

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// controlSize is the buffer size for the requested control message, in octets.
const controlSize = 64

// locals stores the address of this host that a sender uses, and sends answers from this address. If the socket is
// bound to all addresses of a host with several addresses, the kernel may otherwise select another source address,
// which firewalls and NAT would drop.
type locals struct {
	many bool // the socket is bound to all addresses, and the kernel reports the destination of packets

	mu      sync.Mutex
	reached map[netip.AddrPort]path
	own     map[string]own // by the control message of a packet; at most maxOwn entries
}

// own is an address of this host, with the control message that makes it the source address.
type own struct {
	addr netip.Addr
	back []byte
}

// maxOwn is the maximum number of entries of own. For other addresses, the control message is parsed for each packet.
const maxOwn = 256

// newLocals prepares a socket. If the kernel cannot report a packet's destination, it selects the source addresses of
// answers.
func newLocals(udp *net.UDPConn) *locals {
	l := &locals{reached: make(map[netip.AddrPort]path), own: make(map[string]own)}
	bound := udp.LocalAddr().(*net.UDPAddr).AddrPort().Addr()
	switch {
	case !bound.IsUnspecified():
	case bound.Is4():
		l.many = ipv4.NewPacketConn(udp).SetControlMessage(ipv4.FlagDst, true) == nil
	default:
		l.many = ipv6.NewPacketConn(udp).SetControlMessage(ipv6.FlagDst, true) == nil
	}
	return l
}

// recordDestination stores the destination of a valid packet, from its control message oob. It returns the control
// message for an answer; nil lets the kernel select the address.
func (l *locals) recordDestination(from netip.AddrPort, oob []byte, now time.Time) (back []byte) {
	if !l.many {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	to, known := l.own[string(oob)]
	if !known {
		addr, ok := destination(oob)
		if !ok {
			return nil
		}
		to = own{addr, controlFor(addr)}
		if len(l.own) < maxOwn {
			l.own[string(oob)] = to
		}
	}
	local := netip.AddrPortFrom(to.addr, 0)
	if last, ok := l.reached[from]; !ok || !last.isRecent(local, now, verifiedFor) {
		storePath(l.reached, from, path{local, now}, verifiedFor)
	}
	return to.back
}

// controlFor returns the control message that sends a packet from an address.
func controlFor(local netip.Addr) []byte {
	switch {
	case local.IsMulticast():
		return nil
	case local.Is4(): // even on a socket for both families
		return (&ipv4.ControlMessage{Src: local.AsSlice()}).Marshal()
	}
	return (&ipv6.ControlMessage{Src: local.AsSlice()}).Marshal()
}

// destination returns the destination address of a packet.
func destination(oob []byte) (netip.Addr, bool) {
	var four ipv4.ControlMessage
	if four.Parse(oob) == nil && four.Dst != nil {
		a, ok := netip.AddrFromSlice(four.Dst)
		return a.Unmap(), ok
	}
	var six ipv6.ControlMessage
	if six.Parse(oob) == nil && six.Dst != nil {
		a, ok := netip.AddrFromSlice(six.Dst)
		return a.Unmap(), ok
	}
	return netip.Addr{}, false
}

// controlMessageTo returns the control message for a packet to an address; nil lets the kernel select the source
// address.
func (l *locals) controlMessageTo(to netip.AddrPort) []byte {
	if !l.many {
		return nil
	}
	l.mu.Lock()
	known, ok := l.reached[to]
	l.mu.Unlock()
	if !ok {
		return nil
	}
	return controlFor(known.to.Addr())
}
