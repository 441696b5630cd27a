package dnsserver

import (
	"errors"
	"net/netip"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketBuffer is the size of a socket's buffers for queries and for responses, in octets. The kernel doubles it and
// counts some 768 for a small message: 10 900 of them, or 33 ms at the speed of one core. With more, answers would only
// come later.
const socketBuffer = 4 << 20

// restartBuffer is the size of the buffer for queries while a service manager keeps a socket and no process reads it,
// in octets: 87 000 of them, or 1.7 s at 50 000 a second. The next process goes back to socketBuffer as soon as it has
// read what waited.
const restartBuffer = 32 << 20

// leave prepares a UDP socket for the time until the next process reads it. It needs a privilege, or a
// net.core.rmem_max that allows it; without, queries may be lost if the next one is not there within some 200 ms, at
// 50 000 queries a second.
func leave(fd int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, restartBuffer) != nil {
		grow(fd, unix.SO_RCVBUF, restartBuffer)
	}
}

// prepare sets the sizes of a UDP socket's buffers. An inherited socket keeps its larger buffer for queries until the
// queries that wait in it have been read.
func prepare(fd int, inherited bool) {
	have, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if !inherited || err != nil || have < 2*socketBuffer { // the kernel reports twice the size that was set
		receiveBuffer(fd, socketBuffer)
	}
	size(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, socketBuffer)
}

// receiveBuffer sets the size of a UDP socket's buffer for queries.
func receiveBuffer(fd, octets int) { size(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, octets) }

// size sets the size of a buffer in octets. Without the privilege it is what net.core allows.
func size(fd, forced, allowed, octets int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, forced, octets) != nil {
		grow(fd, allowed, octets)
	}
}

// grow makes a buffer as large as net.core allows, up to size, and never smaller: the process that opened the socket
// may have had the privilege.
func grow(fd, buffer, size int) {
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

// socketsPerAddress returns the number of UDP sockets of an address: one for each core that may be used.
func socketsPerAddress() int { return runtime.GOMAXPROCS(0) }

// socketOption is a socket option with a number as its value.
type socketOption struct{ level, name, value int }

func (o socketOption) set(fd int) error { return unix.SetsockoptInt(fd, o.level, o.name, o.value) }

// socketOptions returns a function that prepares a UDP socket: it shares the port with the server's other sockets of
// the address. On an unspecified address it also receives each query's destination, from which the answer is sent.
func socketOptions(at netip.AddrPort, inherited bool) func(network, address string, c syscall.RawConn) error {
	needed := []socketOption{{unix.SOL_SOCKET, unix.SO_REUSEPORT, 1}}
	receiver := socketOption{unix.IPPROTO_IP, unix.IP_PKTINFO, 1}
	// ICMP messages about the path's MTU are ignored: they may be forged, and responses are short enough for any path
	// unless dns.max_udp_size says otherwise (RFC 9715 section 3.1).
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
			_ = paths.set(int(fd)) // an old kernel may refuse it
			prepare(int(fd), inherited)
		})
		return errors.Join(err, refused)
	}
}

// descriptors returns the number of file descriptors that the process may have open.
func descriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
