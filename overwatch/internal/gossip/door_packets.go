package gossip

import (
	"bytes"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
)

// readPackets reads the UDP socket until it is closed. Nothing is allocated for a packet before it was found good.
func (d *door) readPackets() {
	raw := make([]byte, frame.MaxPacket+1) // one more, so that a longer packet is seen to be longer
	scratch := make([]byte, 0, frame.MaxPacket)
	control := make([]byte, controlSize)
	for {
		n, noted, _, from, err := d.udp.ReadMsgUDPAddrPort(raw, control)
		if err != nil {
			if stopped(err) || !d.rest() {
				return
			}
			continue
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if fault := d.packet(raw[:n], control[:noted], scratch, from, time.Now()); fault != frame.None {
			d.drops.count(fault, from)
		}
	}
}

// packet looks at one packet and passes it on; control is what the kernel said about it. It keeps none of the slices.
func (d *door) packet(raw, control, scratch []byte, from netip.AddrPort, now time.Time) frame.Fault {
	plain, fault := d.keyring.OpenPacket(scratch, raw)
	if fault != frame.None {
		return fault
	}
	p, fault := frame.ParsePacket(plain)
	if fault != frame.None {
		return fault
	}
	if !p.Kinds.Within(packetKinds) {
		return dropKind
	}
	d.locals.learn(from, control, now)
	if p.User != nil {
		d.deliver(bytes.Clone(p.User), origin{addr: from})
		return frame.None
	}
	if p.Kinds.Has(frame.Ping) {
		d.paths.pinged(string(p.SourceNode), from, now)
	}
	select {
	case d.packets <- &memberlist.Packet{Buf: bytes.Clone(raw), From: net.UDPAddrFromAddrPort(from), Timestamp: now}:
		return frame.None
	default:
		return dropBusy
	}
}
