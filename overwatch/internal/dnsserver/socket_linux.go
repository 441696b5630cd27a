package dnsserver

import (
	"net/netip"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketBuffer is the room for queries and responses in the kernel, in octets: some 5 000 small messages, or 30 ms at the
// speed of one core. More would only let answers grow old.
const socketBuffer = 4 << 20

// socketsPerAddress is one per core that may be used.
func socketsPerAddress() int { return runtime.GOMAXPROCS(0) }

// socketOptions prepares a UDP socket: shared with the server's other sockets of the address, with large buffers, and, on an
// unspecified address, telling to which address a query was sent so that the answer comes from there.
func socketOptions(at netip.AddrPort) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(handle uintptr) {
			fd := int(handle)
			failed = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			if failed == nil && at.Addr().IsUnspecified() {
				if at.Addr().Is4() {
					failed = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
				} else {
					failed = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
				}
			}
			// Buffers are a wish: where the privileged call is refused, the other takes what net.core allows.
			for _, option := range [][2]int{{unix.SO_RCVBUFFORCE, unix.SO_RCVBUF}, {unix.SO_SNDBUFFORCE, unix.SO_SNDBUF}} {
				if unix.SetsockoptInt(fd, unix.SOL_SOCKET, option[0], socketBuffer) != nil {
					_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option[1], socketBuffer)
				}
			}
		})
		if err != nil {
			return err
		}
		return failed
	}
}

// descriptors is how many file descriptors the process may have open.
func descriptors() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
