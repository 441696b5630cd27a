package gossip

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// controlSize is room for the one control message that is asked for, in octets.
const controlSize = 64

// locals remembers at which of this host's addresses a sender reaches us, so that it is answered from there. It matters
// where the socket is bound to all addresses and the host has several, a floating one for example: the kernel would
// answer from another, which firewalls and address translators on the way let nobody in for.
type locals struct {
	many bool // the socket has more than one address, and the kernel tells which

	mu      sync.Mutex
	reached map[netip.AddrPort]path
	own     map[string]own // by what the kernel says of a packet; at most maxOwn
}

// own is one of this host's addresses: where a packet was sent to, and what sends the answer from there.
type own struct {
	addr netip.Addr
	back []byte
}

// maxOwn bounds the addresses and interfaces that are remembered. Beyond it, each packet is looked at anew.
const maxOwn = 256

// newLocals prepares a socket. Where the kernel cannot tell addresses it is left to choose.
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

// learn notes the address that a good packet was sent to; oob is what the kernel said about it. It returns the control
// message for an answer at once: nil where the kernel may choose.
func (l *locals) learn(from netip.AddrPort, oob []byte, now time.Time) (back []byte) {
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
	if last, ok := l.reached[from]; !ok || !last.holds(local, now, verifiedFor) {
		learn(l.reached, from, path{local, now}, verifiedFor)
	}
	return to.back
}

// controlFor makes the control message that sends a packet from an address.
func controlFor(local netip.Addr) []byte {
	switch {
	case local.IsMulticast():
		return nil
	case local.Is4(): // on a socket for both families too
		return (&ipv4.ControlMessage{Src: local.AsSlice()}).Marshal()
	}
	return (&ipv6.ControlMessage{Src: local.AsSlice()}).Marshal()
}

// destination reads the address that a packet was sent to.
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

// towards returns the control message for a packet to an address: nil where the kernel may choose.
func (l *locals) towards(to netip.AddrPort) []byte {
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
