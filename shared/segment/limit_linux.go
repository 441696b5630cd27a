package segment

import "syscall"

// limit bounds the segments of a socket. Without that it works as well, on ways that are wide enough.
func limit(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, Max) })
}
