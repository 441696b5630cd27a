package dnsserver

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// System calls that package unix lacks. They do not block, so they bypass the scheduler.

// receiveBatch fills messages with the received datagrams, without waiting. It returns the number of filled messages.
func receiveBatch(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&messages[0])),
		uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// sendBatch sends messages. It returns the number of sent messages; an error concerns the next message.
func sendBatch(fd uintptr, messages []unix.Mmsghdr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&messages[0])),
		uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// Indexes of the values of socketMemory (SK_MEMINFO_* in linux/sock_diag.h).
const (
	memoryUsed  = 0 // octets in the receive buffer, including the overhead of the kernel
	memoryLimit = 1 // size of the receive buffer in octets
	memoryDrops = 8 // packets dropped because the receive buffer was full
	memoryVars  = 9
)

// socketMemory returns SO_MEMINFO of the socket (socket(7)); zeros if the kernel does not support it.
func socketMemory(fd int) (info [memoryVars]uint32) {
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return [memoryVars]uint32{}
	}
	return info
}
