package report

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

// Messages that an overwatch node may send to an agent. Packets: sealed answers and acknowledgements of pings, which
// may also contain news about other nodes. Streams: the reply to a push/pull.
var (
	packetKinds = frame.Of(frame.Ack, frame.Suspect, frame.Alive, frame.Dead, frame.User)
	replyKinds  = frame.Of(frame.PushPull, frame.Error)
)

const (
	// packetBacklog is the number of packets that may wait for memberlist.
	packetBacklog = 16
	// readPause is the pause after a failed read.
	readPause = 50 * time.Millisecond
)

// outbound is a memberlist transport (memberlist.NodeAwareTransport) without a listener for peers. It sends from an
// ephemeral port to a fixed address, and ignores the addresses of memberlist. It advertises port 0, so that the node
// answers to the source address of the packets. It filters all incoming data before passing it to memberlist.
type outbound struct {
	keyring *frame.Keyring
	udp     *net.UDPConn
	target  atomic.Pointer[netip.AddrPort] // addresses of the node; nil before the name is resolved
	boot    atomic.Pointer[identity.Nonce] // unproved nonce in the last answer to a ping
	heard   func(message []byte)           // receives a sealed answer; must not block
	dropped func(frame.Fault)
	reply   atomic.Value // frame.Fault of the last rejected reply on a stream

	packets chan *memberlist.Packet
	ctx     context.Context // Shutdown cancels it, which ends all streams
	stop    context.CancelFunc
	reader  sync.WaitGroup
}

func newOutbound(keyring *frame.Keyring, heard func([]byte), dropped func(frame.Fault)) (*outbound, error) {
	udp, err := net.ListenUDP("udp", nil)
	if err != nil {
		return nil, fmt.Errorf("opening a UDP socket: %w", err)
	}
	t := &outbound{keyring: keyring, udp: udp, heard: heard, dropped: dropped,
		packets: make(chan *memberlist.Packet, packetBacklog)}
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.reader.Go(t.read)
	return t, nil
}

// read receives packets until the socket is closed.
func (t *outbound) read() {
	raw := make([]byte, frame.MaxPacket+1)
	scratch := make([]byte, 0, frame.MaxPacket)
	for {
		n, from, err := t.udp.ReadFromUDPAddrPort(raw)
		if err != nil {
			select {
			case <-time.After(readPause):
				continue
			case <-t.ctx.Done():
				return
			}
		}
		if fault := t.packet(raw[:n], scratch, from); fault != frame.None {
			t.dropped(fault)
		}
	}
}

// packet filters a packet and passes it on.
func (t *outbound) packet(raw, scratch []byte, from netip.AddrPort) frame.Fault {
	plain, fault := t.keyring.OpenPacket(scratch, raw)
	if fault != frame.None {
		return fault
	}
	p, fault := frame.ParsePacket(plain)
	if fault != frame.None {
		return fault
	}
	if !p.Kinds.Within(packetKinds) {
		return frame.Malformed
	}
	if p.User != nil {
		t.heard(bytes.Clone(p.User))
		return frame.None
	}
	if nonce := (identity.Nonce{}); p.Kinds.Has(frame.Ack) && len(p.AckPayload) == len(nonce) {
		copy(nonce[:], p.AckPayload)
		t.boot.Store(&nonce)
	}
	select {
	case t.packets <- &memberlist.Packet{Buf: bytes.Clone(raw), From: net.UDPAddrFromAddrPort(from),
		Timestamp: time.Now()}:
	default: // an acknowledgement that memberlist has no time for is as good as lost
	}
	return frame.None
}

// FinalAdvertiseAddr returns an address that no host can dial.
func (t *outbound) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.IPv4zero.To4(), 0, nil
}

// WriteTo sends a packet to the node.
func (t *outbound) WriteTo(b []byte, _ string) (time.Time, error) {
	to := t.target.Load()
	if to == nil {
		return time.Time{}, errNoAddress
	}
	_, err := t.udp.WriteToUDPAddrPort(b, *to)
	return time.Now(), err
}

// WriteToAddress does the same as WriteTo.
func (t *outbound) WriteToAddress(b []byte, _ memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, "")
}

// DialTimeout opens a stream to the node. Its deadline is timeout from now, unless memberlist sets
// another.
func (t *outbound) DialTimeout(_ string, timeout time.Duration) (net.Conn, error) {
	to := t.target.Load()
	if to == nil {
		return nil, errNoAddress
	}
	d := frame.Dialer{Keyring: t.keyring, Allowed: replyKinds, Refused: func(f frame.Fault) { t.reply.Store(f) }}
	return d.Dial(t.ctx, to.String(), timeout)
}

// DialAddressTimeout does the same as DialTimeout.
func (t *outbound) DialAddressTimeout(_ memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return t.DialTimeout("", timeout)
}

// PacketCh returns the channel of packets for memberlist.
func (t *outbound) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh returns a channel that stays empty: no host dials an agent.
func (t *outbound) StreamCh() <-chan net.Conn { return nil }

// Shutdown closes the socket and every stream.
func (t *outbound) Shutdown() error {
	t.stop()
	err := t.udp.Close()
	t.reader.Wait()
	return err
}
