package dnsserver

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// listener accepts the TCP connections of one address. The cheaper dead connections are, the more others are served
// during a flood. Package net sets six options on each connection and asks for its addresses; here connections inherit
// their options from the listener. A connection whose client is gone before it is accepted takes three to five system
// calls and neither a goroutine nor an entry in the runtime's poller.
//
// TCP_DEFER_ACCEPT would keep connections without a query in the kernel. It is not set: such connections fill the queue
// of half-open ones, where this process cannot close them, and without SYN cookies no new client gets in.
type listener struct {
	file    *os.File // in the runtime's poller
	raw     syscall.RawConn
	address netip.AddrPort
	closed  atomic.Bool
	gone    atomic.Uint64 // connections whose client was gone when they were accepted
	first   [readSize]byte
}

// newListener makes a listener of tcp, which it closes.
func newListener(tcp *net.TCPListener) (*listener, error) {
	l := &listener{address: tcp.Addr().(*net.TCPAddr).AddrPort()}
	var err error
	if l.file, err = tcp.File(); err == nil {
		l.raw, err = l.file.SyscallConn()
	}
	if closing := tcp.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = l.control(func(fd int) error {
			// Accepted connections inherit these: answers are sent at once, and those that are not read take bounded memory.
			return cmp.Or(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
				unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer))
		})
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("preparing the TCP listener of %s: %w", l.address, err)
	}
	return l, nil
}

// accept returns the next connection whose client is still there, the client's address, and what it has sent by now, up
// to a whole query or the length of first. input is valid until the next call. After close it returns net.ErrClosed.
func (l *listener) accept() (s stream, client netip.Addr, input []byte, err error) {
	for {
		conn, from, err := l.next()
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
			continue
		case err != nil:
			return nil, netip.Addr{}, nil, err
		}
		if input, there := l.begin(conn); there {
			return os.NewFile(uintptr(conn), "tcp connection"), clientAddress(from), input, nil
		}
		_ = unix.Close(conn)
		l.gone.Add(1)
	}
}

// next waits for the next connection, whose client may be gone.
func (l *listener) next() (conn int, from unix.Sockaddr, err error) {
	waiting := l.raw.Read(func(fd uintptr) bool {
		conn, from, err = unix.Accept4(int(fd), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		return !errors.Is(err, unix.EAGAIN)
	})
	if waiting != nil {
		err = waiting
	}
	if err != nil && l.closed.Load() {
		err = net.ErrClosed
	}
	return conn, from, err
}

// begin reads what has come on a connection, up to a whole query. It returns false if the client has reset the
// connection, or closed it without one.
func (l *listener) begin(conn int) (input []byte, there bool) {
	if errno, err := unix.GetsockoptInt(conn, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || errno != 0 {
		return nil, false
	}
	n := 0
	for n < len(l.first) && !whole(l.first[:n]) {
		more, err := unix.Read(conn, l.first[n:])
		switch {
		case err == unix.EAGAIN:
			return l.first[:n], true
		case err == unix.EINTR:
			continue
		case err != nil, more == 0:
			return nil, false
		}
		n += more
	}
	return l.first[:n], true
}

func clientAddress(from unix.Sockaddr) netip.Addr {
	switch from := from.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(from.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(from.Addr).Unmap()
	}
	return netip.Addr{} // no other family is listened to
}

// control calls f with the number of the listening socket.
func (l *listener) control(f func(fd int) error) (err error) {
	if failed := l.raw.Control(func(fd uintptr) { err = f(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

// close makes accept return net.ErrClosed.
func (l *listener) close() {
	l.closed.Store(true)
	_ = l.file.Close() // nil is refused by Close itself
}

// turnedAway returns the number of connections that the kernel has refused because the queue of those that wait to be
// accepted was full.
func (l *listener) turnedAway() (drops uint64) {
	_ = l.control(func(fd int) error {
		drops = uint64(memory(fd)[memoryDrops])
		return nil
	})
	return drops
}
