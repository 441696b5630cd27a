package dnsserver

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// staleAfter is how long a query may wait in a socket whose room is about used up. Who asked it has mostly asked again by then, or somebody else.
	staleAfter = 200 * time.Millisecond
	// leastRoom is what is left of the room for queries at least, as the kernel counts it: some 170 queries.
	leastRoom = 128 << 10
	// growEvery is how long the room stays as it is before it is doubled again.
	growEvery = time.Second
)

// room is the room for queries in a socket, and what became of it.
//
// Of queries that come faster than they are answered the kernel drops the newest, as there is no room behind those that wait. As long as
// all that waits is answered soon, any choice is as good. But a node that gets little of a core, or none for a while, would only
// answer what nobody waits for any more. So the oldest are given up, and the room is halved, so that those that come do not get as
// old: to be dropped by the kernel costs next to nothing, to be read a tenth of an answer. When nothing waits, the room is doubled from
// time to time until it is what it was.
//
// It begins where less than a quarter of the room is free, before there is any loss. What waited for a process that is restarted is answered, however
// long it had to: until nothing has waited once, it takes a query that the kernel drops after the node has begun to read.
type room struct {
	dropped  uint32 // by the kernel, when it was last looked
	caughtUp bool   // nothing has waited once since the node reads the socket
	over     bool   // it was about used up, or the kernel has dropped a query, and something waits since
	stale    bool   // the oldest queries are being given up
	changed  bool   // it may not be what it is in service
	grown    time.Time
}

// enter is called before a socket is read.
func (r *room) enter(fd int) {
	r.dropped, r.caughtUp = memory(fd)[memoryDrops], false
	r.changed = true // what waited for this process may have had more
}

// stale says whether the n queries that were just read are to be given up. Nothing is asked of the kernel while little waits.
func (s *udpSocket) stale(n int) bool {
	r := &s.room
	if n < batch {
		r.caughtUp, r.over, r.stale = true, false, false
		return false
	}
	info := memory(s.fd)
	if info[memoryDrops] != r.dropped || r.caughtUp && info[memoryUsed] > info[memoryLimit]/4*3 {
		r.dropped, r.over = info[memoryDrops], true
	}
	before := r.stale
	r.stale = r.over && s.responder.now().Sub(arrival(s.fd)) > staleAfter
	if r.stale && !before {
		s.halve()
	}
	return r.stale
}

// halve halves the room for queries, down to leastRoom, once however many read the socket. Without the privilege what is left is no more than net.core
// allows.
func (s *udpSocket) halve() {
	if s.twin {
		return
	}
	s.room.changed, s.room.grown = true, s.responder.now()
	has := memory(s.fd)[memoryLimit]
	if has <= leastRoom {
		return
	}
	half := int(max(has/2, leastRoom) / 2) // the kernel doubles it
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, half) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, half)
	}
}

// relax is called when nothing waits. It brings the room closer to what it is in service, and returns after which time it wants to be called again; 0 is
// when something has come.
func (s *udpSocket) relax() time.Duration {
	r := &s.room
	if !r.changed || s.twin {
		return 0
	}
	const usual = 2 * socketBuffer // as the kernel counts it
	has, now := memory(s.fd)[memoryLimit], s.responder.now()
	if wait := r.grown.Add(growEvery).Sub(now); has < usual && wait > 0 {
		return min(wait, growEvery)
	}
	receiveBuffer(s.fd, int(min(has, socketBuffer))) // doubled by the kernel
	r.grown = now
	if got := memory(s.fd)[memoryLimit]; has < got && got < usual {
		return growEvery
	}
	r.changed = false // it is what it should be, or all that is allowed
	return 0
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
