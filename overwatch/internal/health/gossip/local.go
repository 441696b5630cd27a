package gossip

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
)

// controlSize is the space for the one control message that is asked for, in octets.
const controlSize = 64

// locals remembers the address of this host to which a sender's packets come, so that answers are sent from there. This
// matters if the socket is bound to all addresses and the host has several, a floating one for example: the kernel
// might send from another one, whose packets firewalls and address translators on the way would drop.
type locals struct {
	many bool // the socket is bound to all addresses, and the kernel gives that of each packet

	mu      sync.Mutex
	reached map[netip.AddrPort]path
	own     map[string]own // by the control message of a packet; at most maxOwn
}

// own is an address of this host, with the control message that sends an answer from it.
type own struct {
	addr netip.Addr
	back []byte
}

// maxOwn bounds the addresses and interfaces in own. For others the control message is read for each packet.
const maxOwn = 256

// newLocals prepares a socket. If the kernel cannot give a packet's destination, it chooses the addresses of answers.
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

// learn notes the address that a good packet was sent to, by its control message oob. It returns the control message
// for an answer to it; nil: the kernel may choose.
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

// towards returns the control message for a packet to an address; nil: the kernel may choose.
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
