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

// The kinds of messages that an overwatch node accepts in packets, in streams, and in replies on its own streams.
var (
	packetKinds = frame.Of(frame.Ping, frame.Ack, frame.Suspect, frame.Alive, frame.Dead, frame.User)
	streamKinds = frame.Of(frame.Ping, frame.PushPull, frame.User)
	replyKinds  = frame.Of(frame.Ack, frame.PushPull, frame.Error)
)

const (
	// packetBacklog is the maximum number of packets that wait for memberlist.
	packetBacklog = 2048
	// errorPause is the pause of reading and accepting after an error such as EMFILE.
	errorPause = 50 * time.Millisecond
)

// transport implements memberlist.NodeAwareTransport over the node's sockets, and sends and receives agents' messages.
type transport struct {
	sockets
	keyring     *frame.Keyring
	drops       *drops
	connections *connections
	paths       *paths
	greetings   greetings
	locals      *locals
	self        self
	// deliver receives each message of an agent, and may retain it. It must not block.
	deliver func(message []byte, from origin)

	buffers sync.Pool // of *bytes.Buffer, for the contents of streams
	packets chan *memberlist.Packet
	streams chan net.Conn
	ctx     context.Context // ends with Shutdown
	stop    context.CancelFunc
	readers sync.WaitGroup
}

// self contains the data for answers of the transport: this node's name, boot nonce and Hello.
type self struct {
	nodeID string
	boot   identity.Nonce
	hello  []byte // sealed
}

// origin is the source of a message.
type origin struct {
	addr   netip.AddrPort
	stream bool
}

func newTransport(s sockets, keyring *frame.Keyring, drops *drops, self self, deliver func([]byte, origin)) *transport {
	d := &transport{
		sockets: s, keyring: keyring, drops: drops, self: self, deliver: deliver, paths: newPaths(),
		greetings:   greetings{all: make(map[string]greeting)},
		connections: newConnections(),
		locals:      newLocals(s.udp),
		packets:     make(chan *memberlist.Packet, packetBacklog), streams: make(chan net.Conn),
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d
}

// open starts the reading goroutines, which shut ends.
func (d *transport) open() {
	d.readers.Go(d.readPackets)
	d.readers.Go(d.acceptStreams)
}

// PacketCh returns the channel of packets for memberlist.
func (d *transport) PacketCh() <-chan *memberlist.Packet { return d.packets }

// StreamCh returns the channel of streams for memberlist.
func (d *transport) StreamCh() <-chan net.Conn { return d.streams }

// FinalAdvertiseAddr returns the address of this node in other nodes' member lists.
func (d *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	a := d.ownAddr()
	return a.Addr().AsSlice(), int(a.Port()), nil
}

// ownAddr returns the listening address or, for an unspecified address, an address of this host.
func (d *transport) ownAddr() netip.AddrPort {
	a := d.addr()
	if a.Addr().IsUnspecified() {
		return netip.AddrPortFrom(ownAddress(), a.Port())
	}
	return a
}

// ownAddress returns the first global unicast address of this host, IPv4 before IPv6, otherwise 127.0.0.1.
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

// send seals and sends a message to an agent as a packet, without memberlist.
func (d *transport) send(message []byte, to netip.AddrPort) error {
	plain := append([]byte{byte(frame.User)}, message...)
	_, _, err := d.udp.WriteMsgUDPAddrPort(d.keyring.SealPacket(make([]byte, 0, frame.MaxPacket), plain),
		d.locals.controlMessageTo(to), to)
	return err
}

// WriteTo sends a packet.
func (d *transport) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("sending to %q: %w", addr, err)
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	_, _, err = d.udp.WriteMsgUDPAddrPort(b, d.locals.controlMessageTo(to), to)
	return time.Now(), err
}

// WriteToAddress sends a packet. It ignores the name in the address.
func (d *transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return d.WriteTo(b, a.Addr)
}

// DialTimeout opens a stream to another overwatch node. Replies are checked like other streams.
func (d *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return frame.Dialer{Keyring: d.keyring, Allowed: replyKinds}.Dial(d.ctx, addr, timeout)
}

// DialAddressTimeout is DialTimeout. It ignores the name in the address.
func (d *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return d.DialTimeout(a.Addr, timeout)
}

// Shutdown closes the transport; memberlist calls it.
func (d *transport) Shutdown() error {
	d.shut()
	return nil
}

// shut closes the sockets and waits for the reading goroutines. Later calls have no effect.
func (d *transport) shut() {
	d.stop()
	d.sockets.closeBoth()
	d.connections.closeAll()
	d.readers.Wait()
}

// pauseAfterError waits for errorPause. It returns false when the transport is closing.
func (d *transport) pauseAfterError() bool {
	select {
	case <-time.After(errorPause):
		return true
	case <-d.ctx.Done():
		return false
	}
}

// stopped reports whether err is the error of a socket that this node has closed.
func stopped(err error) bool { return errors.Is(err, net.ErrClosed) }
