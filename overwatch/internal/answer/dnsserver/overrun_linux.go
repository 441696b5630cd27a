package dnsserver

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// staleAfter is the longest a query may wait in a receive buffer that is nearly full. By then most clients have asked
// again.
const staleAfter = 200 * time.Millisecond

// backlog decides which of the queries that wait in a socket are too old to be answered.
//
// The receive buffer has a fixed size, and the kernel drops what comes while it is full. A node that gets little of a
// core would then answer only queries that nobody waits for any more. So once the buffer is three quarters full, or the
// kernel has dropped a query, those older than staleAfter are given up until nothing waits. Reading a query without
// answering it costs about a tenth of an answer.
//
// What waited during a restart is answered, however old it is: until the socket was read empty once, only a query that
// the kernel drops after begin counts as full.
type backlog struct {
	dropped  uint32 // the kernel's count of dropped queries when it was last read
	caughtUp bool   // the socket was read empty since begin
	full     bool   // the buffer was nearly full and was not read empty since
}

// begin must be called before the socket is read first.
func (b *backlog) begin(fd int) { *b = backlog{dropped: memory(fd)[memoryDrops]} }

// stale reports whether the n queries that were read last are to be given up. It asks the kernel only when n is a whole
// batch, so that it costs nothing while little waits.
func (b *backlog) stale(fd, n int, now func() time.Time) bool {
	if n < batch {
		if !b.caughtUp {
			b.caughtUp = true
			receiveBuffer(fd, socketBuffer) // the process before may have left a larger one
		}
		b.full = false
		return false
	}
	info := memory(fd)
	if info[memoryDrops] != b.dropped || b.caughtUp && info[memoryUsed] > info[memoryLimit]/4*3 {
		b.dropped, b.full = info[memoryDrops], true
	}
	return b.full && now().Sub(arrival(fd)) > staleAfter
}

// arrival returns when the packet that was read last arrived, or the current time if that is not known. The first call
// makes the kernel note the arrival of packets from then on, at some 20 ns each.
func arrival(fd int) time.Time {
	var stamp [2]int64 // seconds and nanoseconds
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCGSTAMPNS_NEW, uintptr(unsafe.Pointer(&stamp)))
	if errno != 0 {
		return time.Now()
	}
	return time.Unix(stamp[0], stamp[1])
}
