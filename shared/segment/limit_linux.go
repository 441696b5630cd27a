package segment

import "syscall"

// limit sets the largest TCP segment of a socket. An error is ignored, because most paths carry
// larger ones.
func limit(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, Max) })
}
