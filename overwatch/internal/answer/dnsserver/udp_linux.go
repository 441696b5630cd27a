package dnsserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gslb.internal/overwatch/internal/answer/zone"
)

const (
	// batch is the maximum number of messages per system call.
	batch = zone.MaxPrefetch
	// receiveSize is the space for a query in octets. A longer query is truncated and causes a format error.
	receiveSize = 2048
	// controlSize is the space for the control messages of a query in octets. The largest, IPV6_PKTINFO, has 36.
	controlSize = 64
	// pause is the delay after a kernel error. It limits the CPU use of a permanent error.
	pause = 10 * time.Millisecond
	// maxPendingBatches is the maximum number of batches of queries that the socket answers after stop. The queries
	// arrived before stop.
	maxPendingBatches = 1024
)

// udpSocket answers the queries of one socket. It receives and sends up to batch messages per system call. One
// goroutine reads the socket; Go's poller wakes it.
type udpSocket struct {
	conn        *net.UDPConn
	raw         syscall.RawConn
	local       netip.AddrPort
	responder   *responder
	isDuplicate bool // another udpSocket reads the same kernel socket
	backlog     backlog

	in              [batch]unix.Mmsghdr
	query           [batch]unix.Iovec
	from            [batch][unix.SizeofSockaddrInet6]byte
	control         [batch][controlSize]byte
	octets          [batch][receiveSize]byte
	requests        [batch]request
	hasDestinations bool // control messages contain the destination of each query
	replies         replies
	proxied         *[batch]proxied // nil without proxies
}

// newUDPSocket returns a reader of conn. serve, close or an error of newUDPSocket closes conn.
func newUDPSocket(conn *net.UDPConn, r *responder) (*udpSocket, error) {
	s := &udpSocket{conn: conn, local: conn.LocalAddr().(*net.UDPAddr).AddrPort(), responder: r}
	s.hasDestinations = s.local.Addr().IsUnspecified()
	if r != nil && len(r.proxies) > 0 {
		s.proxied = new([batch]proxied)
	}
	var err error
	if s.raw, err = conn.SyscallConn(); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("prepare the UDP socket of %s: %w", s.local, err)
	}
	for i := range batch {
		s.query[i].Base = &s.octets[i][0]
		s.query[i].SetLen(receiveSize)
		s.in[i].Hdr = unix.Msghdr{Name: &s.from[i][0], Namelen: unix.SizeofSockaddrInet6, Iov: &s.query[i]}
		s.in[i].Hdr.SetIovlen(1)
		if s.hasDestinations {
			s.in[i].Hdr.Control = &s.control[i][0]
			s.in[i].Hdr.SetControllen(controlSize)
		}
	}
	return s, nil
}

// serve answers queries until stop is called, then the queries that already arrived, and closes the socket.
func (s *udpSocket) serve() error {
	defer s.close()
	s.withDescriptor(s.backlog.reset)
	var errno syscall.Errno
	answerWaiting := func(fd uintptr) bool { // one allocation for all batches
		var n int
		n, errno = s.answerBatch(int(fd))
		return n == batch || errno != 0 && errno != unix.EAGAIN // otherwise the socket is empty
	}
	for {
		switch err := s.raw.Read(answerWaiting); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.withDescriptor(s.answerPending)
			return nil
		case err != nil:
			return fmt.Errorf("wait for DNS queries on %s: %w", s.local, err)
		case errno != 0 && errno != unix.EINTR:
			time.Sleep(pause)
		}
	}
}

// answerPending answers the queries that arrived before stop, and prepares the socket for the next process.
func (s *udpSocket) answerPending(fd int) {
	prepareForRestart(fd)
	for range maxPendingBatches {
		if n, errno := s.answerBatch(fd); n < batch || errno != 0 {
			return
		}
	}
}

// stop makes serve return. It does not block.
func (s *udpSocket) stop() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) }

// close closes the socket. It may be called repeatedly.
func (s *udpSocket) close() { _ = s.conn.Close() }

// withDescriptor calls f with the file descriptor, which stays open during the call. It does not call f for a closed
// socket.
func (s *udpSocket) withDescriptor(f func(fd int)) {
	_ = s.raw.Control(func(fd uintptr) { f(int(fd)) })
}

// countDrops returns the number of queries that the kernel dropped because of a full receive buffer; 0 after close.
func (s *udpSocket) countDrops() (n uint64) {
	s.withDescriptor(func(fd int) { n = uint64(socketMemory(fd)[memoryDrops]) })
	return n
}

// answerBatch receives up to batch messages, and answers or discards them. It returns the number of received messages.
func (s *udpSocket) answerBatch(fd int) (int, syscall.Errno) {
	n, errno := receiveBatch(uintptr(fd), s.in[:])
	if errno != 0 {
		return 0, errno
	}
	if s.backlog.isStale(fd, n, s.responder.now) {
		s.responder.counts.stale.Add(uint64(n))
	} else {
		s.answerAll(fd, n)
	}
	for i := range n {
		s.in[i].Hdr.Namelen = unix.SizeofSockaddrInet6
		if s.hasDestinations {
			s.in[i].Hdr.SetControllen(controlSize)
		}
	}
	return n, 0
}

// answerAll answers the first n messages.
func (s *udpSocket) answerAll(fd, n int) {
	s.responder.updateSecond()
	began := s.responder.counts.timer.start()
	if s.responder.observers != nil {
		s.responder.observers.received = time.Now()
	}
	for i := range n {
		from := senderAddress(&s.from[i])
		if s.proxied != nil {
			from = s.unwrap(i, from)
		}
		s.responder.readRequest(&s.requests[i], s.message(i), from, false)
	}
	s.responder.prefetch(s.requests[:n])
	for i := range n {
		s.answerMessage(i)
	}
	if unsent := s.replies.send(uintptr(fd)); unsent > 0 {
		s.responder.counts.unsent.Add(uint64(unsent))
	}
	s.responder.counts.timer.stop(began, n)
}

// proxied describes the message of a proxy: the query in the message, and its header. The header of other messages is
// the zero value.
type proxied struct {
	query  []byte
	header proxyHeader
}

// unwrap finds the query in message i, which may be from a proxy. It returns the client of the query.
func (s *udpSocket) unwrap(i int, from netip.Addr) netip.Addr {
	p := &s.proxied[i]
	p.query, p.header = s.responder.unwrap(s.octets[i][:s.in[i].Len], from)
	if p.header.client.IsValid() {
		return p.header.client.Addr()
	}
	return from
}

// message returns message i without the header of a proxy.
func (s *udpSocket) message(i int) []byte {
	if s.proxied != nil {
		return s.proxied[i].query
	}
	return s.octets[i][:s.in[i].Len]
}

// endpoints returns the source and the destination of message i. For a query of a proxy, they are the addresses at the
// proxy.
func (s *udpSocket) endpoints(i int) (client, destination netip.AddrPort) {
	if s.proxied != nil && s.proxied[i].header.client.IsValid() {
		return s.proxied[i].header.client, s.proxied[i].header.destination
	}
	return sender(&s.from[i]), s.destination(i)
}

// answerMessage adds the reply to message i, if it has one.
func (s *udpSocket) answerMessage(i int) {
	in := &s.in[i]
	if s.hasDestinations && !isUnicast(s.control[i][:in.Hdr.Controllen]) {
		s.responder.counts.queries[dropped].Add(1)
		return
	}
	query := s.message(i)
	if s.responder.isUpdate(&s.requests[i], query) {
		s.submitUpdate(i)
		return
	}
	msg := s.responder.answerRequest(&s.requests[i], query, s.replies.nextBuffer())
	if o := s.responder.observers; o != nil && o.isSelected(&s.requests[i]) {
		client, destination := s.endpoints(i)
		s.responder.record(query, msg, client, destination)
	}
	if msg == nil {
		return
	}
	if s.hasDestinations {
		clearInterface(s.control[i][:in.Hdr.Controllen])
	}
	s.replies.add(len(msg), &in.Hdr)
}

// submitUpdate passes message i to Updates. The response leaves from the destination of the message.
func (s *udpSocket) submitUpdate(i int) {
	var control []byte
	if s.hasDestinations {
		control = slices.Clone(s.control[i][:s.in[i].Hdr.Controllen])
		clearInterface(control)
	}
	from := senderAddress(&s.from[i])
	to := netip.AddrPortFrom(from, binary.BigEndian.Uint16(s.from[i][2:]))
	if from.IsLinkLocalUnicast() && from.Is6() {
		scope := binary.NativeEndian.Uint32(s.from[i][24:])
		to = netip.AddrPortFrom(from.WithZone(strconv.Itoa(int(scope))), to.Port())
	}
	s.responder.updates.Submit(slices.Clone(s.message(i)), s.requests[i].from, func(reply []byte) {
		_, _, _ = s.conn.WriteMsgUDPAddrPort(reply, control, to) // fails after close; the client repeats the message
	})
}

// senderAddress returns the address of a socket address of either family. A socket from a service manager may accept
// both families, and then represents IPv4 addresses as IPv4-mapped IPv6 addresses.
func senderAddress(from *[unix.SizeofSockaddrInet6]byte) netip.Addr {
	if binary.NativeEndian.Uint16(from[:]) == unix.AF_INET {
		return netip.AddrFrom4([4]byte(from[4:8]))
	}
	return netip.AddrFrom16([16]byte(from[8:24])).Unmap()
}

// sender returns the source of a query: the address of senderAddress, and the port, which has the same offset in both
// families.
func sender(from *[unix.SizeofSockaddrInet6]byte) netip.AddrPort {
	return netip.AddrPortFrom(senderAddress(from), binary.BigEndian.Uint16(from[2:]))
}

// destination returns the destination of message i.
func (s *udpSocket) destination(i int) netip.AddrPort {
	if s.hasDestinations {
		info4, info6 := packetInfo(s.control[i][:s.in[i].Hdr.Controllen])
		switch {
		case info4 != nil:
			return netip.AddrPortFrom(netip.AddrFrom4([4]byte(info4[8:12])), s.local.Port())
		case info6 != nil:
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(info6[:16])).Unmap(), s.local.Port())
		}
	}
	return s.local
}

// clearInterface clears the interface in the packet information of a query. The reply then has the destination of the
// query as its source, and uses any route. Link-local addresses need their interface.
func clearInterface(control []byte) {
	info4, info6 := packetInfo(control)
	switch {
	case info4 != nil:
		clear(info4[:4])
	case info6 != nil && !netip.AddrFrom16([16]byte(info6[:16])).IsLinkLocalUnicast():
		clear(info6[16:20])
	}
}

// isUnicast reports whether the query was sent to a unicast address, according to its packet information. A query to a
// multicast or broadcast address reaches each socket, and that address cannot be the source of a reply.
func isUnicast(control []byte) bool {
	info4, info6 := packetInfo(control)
	switch {
	case info4 != nil: // source address of a reply, and destination of the query
		return [4]byte(info4[4:8]) == [4]byte(info4[8:12])
	case info6 != nil:
		return info6[0] != 0xff // multicast (RFC 4291 section 2.7)
	}
	return true
}

// packetInfo returns the struct in_pktinfo or in6_pktinfo of a query; the other result is nil.
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
