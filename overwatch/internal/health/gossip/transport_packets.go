package gossip

import (
	"bytes"
	"net"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
)

// scratch has the buffers of a goroutine that opens packets and writes answers, so that it allocates no memory.
type scratch struct {
	plain, answer, packet []byte
}

func newScratch() *scratch {
	return &scratch{plain: make([]byte, 0, frame.MaxPacket), answer: make([]byte, 0, frame.MaxPacket),
		packet: make([]byte, 0, frame.MaxPacket)}
}

// readPackets reads the UDP socket until it is closed. It does not allocate memory for dropped packets.
func (d *transport) readPackets() {
	raw := make([]byte, frame.MaxPacket+1) // an additional octet detects oversized packets
	on := newScratch()
	control := make([]byte, controlSize)
	for {
		n, noted, _, from, err := d.udp.ReadMsgUDPAddrPort(raw, control)
		if err != nil {
			if stopped(err) || !d.pauseAfterError() {
				return
			}
			continue
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if fault := d.packet(raw[:n], control[:noted], on, from, time.Now()); fault != frame.None {
			d.drops.count(fault, from)
		}
	}
}

// packet validates a packet and delivers it, or returns the reason for dropping it. control contains the packet's
// control messages. packet does not retain the slices.
func (d *transport) packet(raw, control []byte, on *scratch, from netip.AddrPort, now time.Time) frame.Fault {
	plain, fault := d.keyring.OpenPacket(on.plain, raw)
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
	back := d.locals.recordDestination(from, control, now)
	if p.User != nil {
		d.deliver(bytes.Clone(p.User), origin{addr: from})
		return frame.None
	}
	if p.Kinds.Has(frame.Ping) {
		d.paths.recordPing(p.SourceNode, from, now)
		if d.fromAgent(&p) {
			d.pong(p.Sequence, on, from, back)
			return frame.None
		}
	}
	select {
	case d.packets <- &memberlist.Packet{Buf: bytes.Clone(raw), From: net.UDPAddrFromAddrPort(from), Timestamp: now}:
		return frame.None
	default:
		return dropBusy
	}
}

// fromAgent reports whether an agent sent a ping, so that the transport answers it: a single ping for this node without
// a reply port. The ping of an overwatch node has a reply port. memberlist receives this ping, and its answer may
// contain news about other nodes.
func (d *transport) fromAgent(p *frame.Packet) bool {
	return p.Single && p.ReplyPort == 0 && (len(p.Target) == 0 || string(p.Target) == d.self.nodeID)
}

// pong answers a ping with the boot nonce. back is the control message that sets the source address. If the kernel
// rejects the answer, the answer is lost, like a packet that the network loses.
func (d *transport) pong(sequence uint32, on *scratch, from netip.AddrPort, back []byte) {
	answer := frame.AppendAck(on.answer, sequence, d.self.boot[:])
	_, _, _ = d.udp.WriteMsgUDPAddrPort(d.keyring.SealPacket(on.packet, answer), back, from)
}
