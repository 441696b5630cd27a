package segment

import "syscall"

// limit sets the largest TCP segment of a socket. It ignores errors, because most paths carry larger segments.
func limit(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, Max) })
}
