package dnsserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

const (
	// batch bounds the messages that one system call receives or sends.
	batch = zone.MaxPrefetch
	// receiveSize is the space for a query, in octets. A longer one is cut off, and so a format error.
	receiveSize = 2048
	// controlSize is the space for a query's control messages, in octets: IPV6_PKTINFO is the largest, with 36.
	controlSize = 64
	// pause is the wait after an error of the kernel, so that a lasting one does not take a whole core.
	pause = 10 * time.Millisecond
	// maxRest bounds the batches that are answered after the stop: queries that had arrived before.
	maxRest = 1024
)

// udpSocket answers the queries that arrive on one socket, up to batch of them per system call in both directions.
// One goroutine reads it; Go's poller wakes that goroutine.
type udpSocket struct {
	conn      *net.UDPConn
	raw       syscall.RawConn
	local     netip.AddrPort
	responder *responder
	twin      bool // another udpSocket reads the same socket
	backlog   backlog

	in           [batch]unix.Mmsghdr
	query        [batch]unix.Iovec
	from         [batch][unix.SizeofSockaddrInet6]byte
	control      [batch][controlSize]byte
	octets       [batch][receiveSize]byte
	requests     [batch]request
	destinations bool // queries come with the address that they were sent to
	replies      replies
}

// newUDPSocket makes a reader of conn, which serve, close, or an error here closes.
func newUDPSocket(conn *net.UDPConn, r *responder) (*udpSocket, error) {
	s := &udpSocket{conn: conn, local: conn.LocalAddr().(*net.UDPAddr).AddrPort(), responder: r}
	s.destinations = s.local.Addr().IsUnspecified()
	var err error
	if s.raw, err = conn.SyscallConn(); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("preparing the UDP socket of %s: %w", s.local, err)
	}
	for i := range batch {
		s.query[i].Base = &s.octets[i][0]
		s.query[i].SetLen(receiveSize)
		s.in[i].Hdr = unix.Msghdr{Name: &s.from[i][0], Namelen: unix.SizeofSockaddrInet6, Iov: &s.query[i]}
		s.in[i].Hdr.SetIovlen(1)
		if s.destinations {
			s.in[i].Hdr.Control = &s.control[i][0]
			s.in[i].Hdr.SetControllen(controlSize)
		}
	}
	return s, nil
}

// serve answers until stop is called, then what has arrived by then, and closes the socket.
func (s *udpSocket) serve() error {
	defer s.close()
	s.withDescriptor(s.backlog.begin)
	var errno syscall.Errno
	answerWaiting := func(fd uintptr) bool { // allocated once, not for each batch
		var n int
		n, errno = s.answerBatch(int(fd))
		return n == batch || errno != 0 && errno != unix.EAGAIN // else nothing waits any more
	}
	for {
		switch err := s.raw.Read(answerWaiting); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.withDescriptor(s.answerRest)
			return nil
		case err != nil:
			return fmt.Errorf("waiting for DNS queries on %s: %w", s.local, err)
		case errno != 0 && errno != unix.EINTR:
			time.Sleep(pause)
		}
	}
}

// answerRest answers what has arrived before stop, and prepares the socket for the next process.
func (s *udpSocket) answerRest(fd int) {
	leave(fd)
	for range maxRest {
		if n, errno := s.answerBatch(fd); n < batch || errno != 0 {
			return
		}
	}
}

// stop makes serve return. It does not wait.
func (s *udpSocket) stop() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) }

// close closes the socket; later calls do nothing.
func (s *udpSocket) close() { _ = s.conn.Close() }

// withDescriptor calls f with the socket's file descriptor, which stays open meanwhile. On a closed socket it does
// nothing.
func (s *udpSocket) withDescriptor(f func(fd int)) {
	_ = s.raw.Control(func(fd uintptr) { f(int(fd)) })
}

// drops returns the number of queries that the kernel dropped because the receive buffer was full; 0 once closed.
func (s *udpSocket) drops() (n uint64) {
	s.withDescriptor(func(fd int) { n = uint64(memory(fd)[memoryDrops]) })
	return n
}

// answerBatch receives up to batch messages and answers them, unless they are stale. It returns how many it received.
func (s *udpSocket) answerBatch(fd int) (int, syscall.Errno) {
	n, errno := receive(uintptr(fd), s.in[:])
	if errno != 0 {
		return 0, errno
	}
	if s.backlog.stale(fd, n, s.responder.now) {
		s.responder.counts.stale.Add(uint64(n))
	} else {
		s.answerAll(fd, n)
	}
	for i := range n {
		s.in[i].Hdr.Namelen = unix.SizeofSockaddrInet6
		if s.destinations {
			s.in[i].Hdr.SetControllen(controlSize)
		}
	}
	return n, 0
}

// answerAll answers the first n messages.
func (s *udpSocket) answerAll(fd, n int) {
	s.responder.tick()
	began := s.responder.counts.clock.begin()
	for i := range n {
		s.responder.read(&s.requests[i], s.octets[i][:s.in[i].Len], sender(&s.from[i]), false)
	}
	s.responder.fetch(s.requests[:n])
	for i := range n {
		s.answer(i)
	}
	if unsent := s.replies.send(uintptr(fd)); unsent > 0 {
		s.responder.counts.unsent.Add(uint64(unsent))
	}
	s.responder.counts.clock.end(began, n)
}

// answer adds the reply to query i, if there is one.
func (s *udpSocket) answer(i int) {
	in := &s.in[i]
	if s.destinations && !toOneHost(s.control[i][:in.Hdr.Controllen]) {
		s.responder.counts.queries[dropped].Add(1)
		return
	}
	msg := s.responder.answer(&s.requests[i], s.octets[i][:in.Len], s.replies.space())
	if msg == nil {
		return
	}
	if s.destinations {
		anyInterface(s.control[i][:in.Hdr.Controllen])
	}
	s.replies.add(len(msg), &in.Hdr)
}

// sender returns the address in a socket address of either family. A socket of a service manager may take both, and
// then has IPv4 addresses inside IPv6 ones.
func sender(from *[unix.SizeofSockaddrInet6]byte) netip.Addr {
	if binary.NativeEndian.Uint16(from[:]) == unix.AF_INET {
		return netip.AddrFrom4([4]byte(from[4:8]))
	}
	return netip.AddrFrom16([16]byte(from[8:24])).Unmap()
}

// anyInterface clears the interface in the packet information of a query, which then makes the reply come from the
// address the query was sent to, by any route. Link-local addresses are those of one interface and keep it.
func anyInterface(control []byte) {
	info4, info6 := packetInfo(control)
	switch {
	case info4 != nil:
		clear(info4[:4])
	case info6 != nil && !netip.AddrFrom16([16]byte(info6[:16])).IsLinkLocalUnicast():
		clear(info6[16:20])
	}
}

// toOneHost reports whether a query was sent to a unicast address, by its packet information. A query to a multicast or
// broadcast address reaches each socket, and no answer can be sent from that address.
func toOneHost(control []byte) bool {
	info4, info6 := packetInfo(control)
	switch {
	case info4 != nil: // the address that answers would come from, and the one that was asked
		return [4]byte(info4[4:8]) == [4]byte(info4[8:12])
	case info6 != nil:
		return info6[0] != 0xff // multicast (RFC 4291 section 2.7)
	}
	return true
}

// packetInfo returns the struct in_pktinfo or in6_pktinfo of a query; the other one is nil.
func packetInfo(control []byte) (info4, info6 []byte) {
	header := unix.CmsgLen(0)
	if len(control) < header {
		return nil, nil
	}
	level, kind := binary.NativeEndian.Uint32(control[header-8:]), binary.NativeEndian.Uint32(control[header-4:])
	info := control[header:]
	switch {
	case level == unix.IPPROTO_IP && kind == unix.IP_PKTINFO && len(info) >= unix.SizeofInet4Pktinfo:
		return info, nil
	case level == unix.IPPROTO_IPV6 && kind == unix.IPV6_PKTINFO && len(info) >= unix.SizeofInet6Pktinfo:
		return nil, info
	}
	return nil, nil
}
