package dnsserver

import (
	"errors"
	"net/netip"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketBuffer is the size in octets of the receive and send buffers of a socket. The kernel doubles it and uses about
// 768 octets for a small message, so it holds 10 900 messages, or 33 ms of work for one core. A larger buffer would
// delay answers.
const socketBuffer = 4 << 20

// restartBuffer is the size in octets of the receive buffer between two processes of the service: 87 000 queries, or
// 1.7 s at 50 000 queries per second. The next process sets socketBuffer after it read the waiting queries.
const restartBuffer = 32 << 20

// prepareForRestart enlarges the receive buffer of a UDP socket until the next process reads it. This requires
// CAP_NET_ADMIN or a sufficient net.core.rmem_max. Otherwise, at 50 000 queries per second, queries are lost after
// about 200 ms.
func prepareForRestart(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, restartBuffer) != nil {
		growBuffer(fd, unix.SO_RCVBUF, restartBuffer)
	}
}

// setBufferSizes sets the buffer sizes of a UDP socket. An inherited socket retains a larger receive buffer until the
// waiting queries have been read.
func setBufferSizes(fd int, inherited bool) {
	have, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if !inherited || err != nil || have < 2*socketBuffer { // the kernel reports twice the requested size
		setReceiveBuffer(fd, socketBuffer)
	}
	setBufferSize(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, socketBuffer)
}

// setReceiveBuffer sets the size of the receive buffer of a UDP socket.
func setReceiveBuffer(fd, octets int) { setBufferSize(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, octets) }

// setBufferSize sets the size of a buffer in octets. Without CAP_NET_ADMIN, net.core limits the size.
func setBufferSize(fd, forced, allowed, octets int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, forced, octets) != nil {
		growBuffer(fd, allowed, octets)
	}
}

// growBuffer increases a buffer to size, limited by net.core. It never decreases the buffer, because the process that
// opened the socket may have had the capability.
func growBuffer(fd, buffer, size int) {
	fresh, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fresh) }()
	_ = unix.SetsockoptInt(fresh, unix.SOL_SOCKET, buffer, size)
	allowed, _ := unix.GetsockoptInt(fresh, unix.SOL_SOCKET, buffer)
	if had, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, buffer); err == nil && had < allowed {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, buffer, size)
	}
}

// socketsPerAddress returns the number of UDP sockets of an address: one for each usable core.
func socketsPerAddress() int { return runtime.GOMAXPROCS(0) }

// socketOption is a socket option with an integer value.
type socketOption struct{ level, name, value int }

func (o socketOption) set(fd int) error { return unix.SetsockoptInt(fd, o.level, o.name, o.value) }

// socketOptions returns a function that sets the options of a UDP socket. The socket shares its port with the other
// sockets of the address. A socket of an unspecified address receives the destination of each query, which becomes the
// source of the reply.
func socketOptions(at netip.AddrPort, inherited bool) func(network, address string, c syscall.RawConn) error {
	needed := []socketOption{{unix.SOL_SOCKET, unix.SO_REUSEPORT, 1}}
	receiver := socketOption{unix.IPPROTO_IP, unix.IP_PKTINFO, 1}
	// The socket ignores ICMP messages about the path MTU, which can be forged. With the default dns.max_udp_size,
	// responses fit each path (RFC 9715 section 3.1).
	paths := socketOption{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_OMIT}
	if at.Addr().Is6() {
		receiver = socketOption{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1}
		paths = socketOption{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_OMIT}
	}
	if at.Addr().IsUnspecified() {
		needed = append(needed, receiver)
	}
	return func(_, _ string, c syscall.RawConn) error {
		var refused error
		err := c.Control(func(fd uintptr) {
			for _, o := range needed {
				refused = errors.Join(refused, o.set(int(fd)))
			}
			_ = paths.set(int(fd)) // an old kernel may reject the option
			setBufferSizes(int(fd), inherited)
		})
		return errors.Join(err, refused)
	}
}

// maxDescriptors returns the maximum number of open file descriptors of the process.
func maxDescriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
