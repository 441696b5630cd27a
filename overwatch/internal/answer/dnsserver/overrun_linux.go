package dnsserver

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// staleAfter is the maximum waiting time of a query in a nearly full receive buffer. Most clients have retried by then.
const staleAfter = 200 * time.Millisecond

// backlog detects queries that waited too long in the receive buffer of a socket.
//
// The kernel drops queries while the receive buffer, which has a fixed size, is full. An overloaded node would then
// answer only queries of clients that no longer wait. If the buffer is three quarters full, or the kernel dropped a
// query, the socket therefore discards queries older than staleAfter until the buffer is empty. Discarding a query
// costs about a tenth of answering it.
//
// The socket answers queries that arrived during a restart regardless of their age: until the buffer was empty once,
// only queries that the kernel drops after reset indicate an overload.
type backlog struct {
	dropped    uint32 // last read drop counter of the kernel
	caughtUp   bool   // the buffer was empty once since reset
	overloaded bool   // the buffer was nearly full and has not been empty since
}

// reset must be called before the first read of the socket.
func (b *backlog) reset(fd int) { *b = backlog{dropped: socketMemory(fd)[memoryDrops]} }

// isStale reports whether the last n received queries must be discarded. It performs system calls only for full
// batches, so that it is free at low load.
func (b *backlog) isStale(fd, n int, now func() time.Time) bool {
	if n < batch {
		if !b.caughtUp {
			b.caughtUp = true
			setReceiveBuffer(fd, socketBuffer) // the previous process may have set a larger buffer
		}
		b.overloaded = false
		return false
	}
	info := socketMemory(fd)
	if info[memoryDrops] != b.dropped || b.caughtUp && info[memoryUsed] > info[memoryLimit]/4*3 {
		b.dropped, b.overloaded = info[memoryDrops], true
	}
	return b.overloaded && now().Sub(arrival(fd)) > staleAfter
}

// arrival returns the arrival time of the last read packet, or the current time if it is unknown. The first call
// enables time stamps in the kernel, which cost about 20 ns per packet.
func arrival(fd int) time.Time {
	var stamp [2]int64 // seconds and nanoseconds
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCGSTAMPNS_NEW, uintptr(unsafe.Pointer(&stamp)))
	if errno != 0 {
		return time.Now()
	}
	return time.Unix(stamp[0], stamp[1])
}
