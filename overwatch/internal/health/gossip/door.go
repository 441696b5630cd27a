package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"gslb.internal/shared/frame"
	"gslb.internal/shared/identity"
)

// What an overwatch node is sent: pings and their acknowledgements, news of other overwatch nodes, agents' messages.
var (
	packetKinds = frame.Of(frame.Ping, frame.Ack, frame.Suspect, frame.Alive, frame.Dead, frame.User)
	streamKinds = frame.Of(frame.Ping, frame.PushPull, frame.User)
	replyKinds  = frame.Of(frame.Ack, frame.PushPull, frame.Error)
)

const (
	// packetBacklog bounds the packets that wait for memberlist.
	packetBacklog = 2048
	// errorPause is the pause of reading and accepting after an error such as "too many open files".
	errorPause = 50 * time.Millisecond
)

// door is memberlist's transport (memberlist.NodeAwareTransport): the only way in, and the way out.
type door struct {
	sockets
	keyring *frame.Keyring
	drops   *drops
	slots   *slots
	paths   *paths
	locals  *locals
	desk    desk
	// deliver takes an agent's message; it must not block. The message is the receiver's to keep.
	deliver func(message []byte, from origin)

	rooms   sync.Pool // of *bytes.Buffer, for what streams bring
	packets chan *memberlist.Packet
	streams chan net.Conn
	ctx     context.Context // ends with Shutdown
	stop    context.CancelFunc
	readers sync.WaitGroup
}

// desk answers agents at the door itself: the name of this node and its boot nonce.
type desk struct {
	nodeID string
	boot   identity.Nonce
	hello  []byte // sealed
}

// origin is the source of a message.
type origin struct {
	addr   netip.AddrPort
	stream bool
}

func newDoor(s sockets, keyring *frame.Keyring, drops *drops, desk desk, deliver func([]byte, origin)) *door {
	d := &door{
		sockets: s, keyring: keyring, drops: drops, desk: desk, deliver: deliver, paths: newPaths(), slots: newSlots(),
		locals:  newLocals(s.udp),
		packets: make(chan *memberlist.Packet, packetBacklog), streams: make(chan net.Conn),
		rooms: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// open starts reading; shut ends it.
func (d *door) open() {
	d.readers.Go(d.readPackets)
	d.readers.Go(d.acceptStreams)
}

// PacketCh returns the channel from which memberlist takes packets.
func (d *door) PacketCh() <-chan *memberlist.Packet { return d.packets }

// StreamCh returns the channel from which memberlist takes streams.
func (d *door) StreamCh() <-chan net.Conn { return d.streams }

// FinalAdvertiseAddr names the address under which other overwatch nodes list this one.
func (d *door) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	a := d.ownAddr()
	return a.Addr().AsSlice(), int(a.Port()), nil
}

// ownAddr returns the address that is listened on or, if that is any, one of this host.
func (d *door) ownAddr() netip.AddrPort {
	a := d.addr()
	if a.Addr().IsUnspecified() {
		return netip.AddrPortFrom(ownAddress(), a.Port())
	}
	return a
}

// ownAddress chooses the first address of this host that others could reach, IPv4 before IPv6, or the loopback address.
func ownAddress() netip.Addr {
	best := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return best
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if prefix.Addr().Is4() {
			return prefix.Addr()
		}
		if best.IsLoopback() {
			best = prefix.Addr()
		}
	}
	return best
}

// send sends an agent's message. Unlike memberlist's way out, it costs little and knows no members.
func (d *door) send(message []byte, to netip.AddrPort) error {
	plain := append([]byte{byte(frame.User)}, message...)
	_, _, err := d.udp.WriteMsgUDPAddrPort(d.keyring.SealPacket(make([]byte, 0, frame.MaxPacket), plain),
		d.locals.towards(to), to)
	return err
}

// WriteTo sends a packet.
func (d *door) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("sending to %q: %w", addr, err)
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	_, _, err = d.udp.WriteMsgUDPAddrPort(b, d.locals.towards(to), to)
	return time.Now(), err
}

// WriteToAddress sends a packet; names mean nothing here.
func (d *door) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return d.WriteTo(b, a.Addr)
}

// DialTimeout opens a stream to another overwatch node. What comes back on it passes the door too.
func (d *door) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return frame.Dialer{Keyring: d.keyring, Allowed: replyKinds}.Dial(d.ctx, addr, timeout)
}

// DialAddressTimeout is DialTimeout; names mean nothing here.
func (d *door) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return d.DialTimeout(a.Addr, timeout)
}

// Shutdown closes the door; memberlist calls it.
func (d *door) Shutdown() error {
	d.shut()
	return nil
}

// shut closes the sockets and waits until nothing is read any more; any number of times.
func (d *door) shut() {
	d.stop()
	d.sockets.close()
	d.slots.closeAll()
	d.readers.Wait()
}

// rest waits a little after an error; it reports false when the door is closing.
func (d *door) rest() bool {
	select {
	case <-time.After(errorPause):
		return true
	case <-d.ctx.Done():
		return false
	}
}

// stopped reports whether err is only the end of our own socket.
func stopped(err error) bool { return errors.Is(err, net.ErrClosed) }
