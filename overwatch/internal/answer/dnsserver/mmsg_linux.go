package dnsserver

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The three calls that package unix does not have. They do not block, so they are made without telling the scheduler.

// receive fills messages with what has arrived, without waiting, and returns the number filled.
func receive(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&messages[0])),
		uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// send gives messages to the kernel and returns the number that it took; an error concerns the next one.
func send(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&messages[0])),
		uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// Indexes of the values that memory returns (SK_MEMINFO_* in linux/sock_diag.h).
const (
	memoryUsed  = 0 // octets that the receive buffer holds, the kernel's overhead included
	memoryLimit = 1 // octets that it may hold
	memoryDrops = 8 // packets that were dropped because it was full
	memoryVars  = 9
)

// memory returns the socket's SO_MEMINFO (socket(7)); zeros if the kernel has none.
func memory(fd int) (info [memoryVars]uint32) {
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return [memoryVars]uint32{}
	}
	return info
}
