package network

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// wire is a link with a delay between a site and the router: a namespace with an interface to each, and this process,
// which forwards every frame after the delay. Not every kernel supports delays (netem).
type wire struct {
	namespace *namespace
	ends      [2]int       // packet sockets
	delay     atomic.Int64 // time.Duration
	closed    atomic.Bool
	running   sync.WaitGroup
}

// carried is the maximum number of frames on a wire in each direction. Further frames are lost, as on a real wire.
const carried = 4096

// maxFrame is the size of the largest frame that a sender leaves to its network card for segmentation, with its header.
const maxFrame = 1<<16 + 128

// wire joins a site and the router with a delay.
func (n *Network) wire(s *Site, delay time.Duration) error {
	between, err := newNamespace()
	if err != nil {
		return err
	}
	w := &wire{namespace: between, ends: [2]int{-1, -1}}
	w.delay.Store(int64(delay))
	n.wires, s.wire = append(n.wires, w), w
	names := [2]string{"site", "router"}
	err = errors.Join(
		between.set("ipv6/conf/default/disable_ipv6", "1"), // the bridge has no IPv6 address
		link(s.namespace, uplink, between, names[0]),
		link(n.router, s.Name, between, names[1]),
	)
	if err != nil {
		return err
	}
	for i, name := range names {
		if err := between.inside(func() (err error) { w.ends[i], err = packetSocket(name); return err }); err != nil {
			return fmt.Errorf("the wire's end at the %s: %w", name, err)
		}
	}
	for i := range w.ends {
		w.carry(w.ends[i], w.ends[1-i])
	}
	return nil
}

// packetSocket opens an interface for whole frames. Each frame has a header with the work that its sender left to the
// network card: checksums and segmentation (packet(7), PACKET_VNET_HDR).
func packetSocket(device string) (int, error) {
	link, err := net.InterfaceByName(device)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	every := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		// the time after which a reader notices the end of the wire
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: link.Index}),
	)
	return fd, err
}

// onWay is a frame on a wire, and the time of its arrival at the other end.
type onWay struct {
	due   time.Time
	frame []byte
}

// carry forwards frames in one direction until the wire is closed.
func (w *wire) carry(from, to int) {
	way := make(chan onWay, carried)
	w.running.Go(func() {
		defer close(way)
		buf := make([]byte, maxFrame)
		for !w.closed.Load() {
			n, err := unix.Read(from, buf)
			if err != nil {
				continue // no frame arrived for a while
			}
			select {
			case way <- onWay{time.Now().Add(time.Duration(w.delay.Load())), bytes.Clone(buf[:n])}:
			default:
			}
		}
	})
	w.running.Go(func() {
		for f := range way {
			time.Sleep(time.Until(f.due))  // real: the delay of the wire
			_, _ = unix.Write(to, f.frame) // frames that the other end rejects are lost
		}
	})
}

// close stops the wire.
func (w *wire) close() {
	w.closed.Store(true)
	w.running.Wait()
	for _, fd := range w.ends {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	w.namespace.close()
}
