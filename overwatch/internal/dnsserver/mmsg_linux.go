package dnsserver

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The three calls that package unix does not have. They do not block, so they are made without telling the scheduler.

// receive fills messages with what has arrived and returns how many it was.
func receive(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// send hands messages to the kernel and returns how many it took; an error is about the next one.
func send(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// socketDrops reads the number of dropped packets out of SO_MEMINFO (socket(7)); 0 where there is none.
func socketDrops(fd uintptr) uint64 {
	var info [9]uint32 // SK_MEMINFO_VARS
	const drops = 8    // SK_MEMINFO_DROPS
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO, uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return 0
	}
	return uint64(info[drops])
}
