package dnsserver

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// staleAfter is how long a query may wait in a socket that runs over. Who asked it has mostly asked again by then, or somebody else.
const staleAfter = 200 * time.Millisecond

// stale says whether the n queries that were just read are to be given up, as the socket runs over and the last of them has waited for
// longer than staleAfter.
//
// Of queries that come faster than they are answered the kernel drops the newest, as there is no room behind those that wait. As long as
// all that waits is answered soon, any choice is as good. But a node that gets little of a core, or none for a while, would only
// answer what nobody waits for any more. So the oldest are given up, and the room is halved, so that those that come do not get as
// old: to be dropped by the kernel costs next to nothing, to be read a tenth of an answer. The whole room is back when nothing waits.
//
// It begins where less than a quarter of the room is free: what waited for a process that is restarted is answered, however long it had to,
// where there is room for more. Nothing is asked of the kernel while little waits.
func (s *udpSocket) stale(n int) bool {
	before := s.overrun
	s.overrun = n == batch && (before || s.nearlyFull()) && s.responder.now().Sub(arrival(s.fd)) > staleAfter
	if s.overrun && !before {
		s.halve()
	}
	return s.overrun
}

// nearlyFull says whether the room for queries is about used up.
func (s *udpSocket) nearlyFull() bool {
	info := memory(s.fd)
	return info[memoryUsed] > info[memoryLimit]/4*3
}

// halve halves the room for queries, once however many read the socket; all of it is back when nothing waits. Without the privilege what is
// left is no more than net.core allows.
func (s *udpSocket) halve() {
	s.resized = true
	if s.twin {
		return
	}
	half := int(memory(s.fd)[memoryLimit] / 4) // the kernel doubles it
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, half) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, half)
	}
}

// arrival is when the packet came that was read last, and now if that is not known. From the first call on the kernel notes when packets arrive,
// which takes it some 20 ns each: so it is called by who needs it only.
func arrival(fd int) time.Time {
	var stamp [2]int64 // seconds and nanoseconds
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCGSTAMPNS_NEW, uintptr(unsafe.Pointer(&stamp)))
	if errno != 0 {
		return time.Now()
	}
	return time.Unix(stamp[0], stamp[1])
}
