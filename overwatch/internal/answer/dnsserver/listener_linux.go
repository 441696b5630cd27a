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

// listener accepts the TCP connections of one address. It handles aborted connections cheaply, so that a flood of them
// leaves capacity for others: package net sets six options on each connection and queries its addresses, while these
// connections inherit the options of the listener. A connection that the client closed before accept costs three to
// five system calls, without a goroutine and an entry in the runtime's poller.
//
// The listener does not set TCP_DEFER_ACCEPT. The option would keep connections without a query in the queue of
// half-open connections, where this process cannot close them. Without SYN cookies, new clients could not connect.
type listener struct {
	file           *os.File // registered in the runtime's poller
	raw            syscall.RawConn
	address        netip.AddrPort
	closed         atomic.Bool
	closedByClient atomic.Uint64 // connections that the client closed before accept
	first          [readSize]byte
}

// newListener returns a listener for tcp, and closes tcp.
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
			// Accepted connections inherit the options: immediate sending, and bounded memory for unread responses.
			return cmp.Or(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1),
				unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBuffer))
		})
	}
	if err != nil {
		l.close()
		return nil, fmt.Errorf("set options of the TCP listener of %s: %w", l.address, err)
	}
	return l, nil
}

// accept returns the next open connection, the client address, and the received data, at most one complete query or the
// size of first. input is valid until the next call. After close it returns net.ErrClosed.
func (l *listener) accept() (s stream, client netip.AddrPort, input []byte, err error) {
	for {
		conn, from, err := l.acceptRaw()
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
			continue
		case err != nil:
			return nil, netip.AddrPort{}, nil, err
		}
		if input, there := l.readFirst(conn); there {
			return os.NewFile(uintptr(conn), "tcp connection"), addressOf(from), input, nil
		}
		_ = unix.Close(conn)
		l.closedByClient.Add(1)
	}
}

// acceptRaw waits for the next connection. The client may have closed it.
func (l *listener) acceptRaw() (conn int, from unix.Sockaddr, err error) {
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

// readFirst reads the received data of a connection, at most one complete query. It returns false if the client reset
// the connection or closed it without a query.
func (l *listener) readFirst(conn int) (input []byte, there bool) {
	if errno, err := unix.GetsockoptInt(conn, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || errno != 0 {
		return nil, false
	}
	n := 0
	for n < len(l.first) && !hasWholeMessage(l.first[:n]) {
		more, err := unix.Read(conn, l.first[n:])
		switch {
		case err == unix.EAGAIN:
			return l.first[:n], true
		case err == unix.EINTR:
			continue
		case err == nil && more == 0 && hasProxySignature(l.first[:n]):
			return l.first[:n], true
		case err != nil, more == 0:
			return nil, false
		}
		n += more
	}
	return l.first[:n], true
}

// addressOf returns the address and port of a socket address.
func addressOf(at unix.Sockaddr) netip.AddrPort {
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(at.Addr), uint16(at.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(at.Addr).Unmap(), uint16(at.Port))
	}
	return netip.AddrPort{} // unreachable: the listener has one of these families
}

// localAddress returns the local address of an accepted connection; the zero address if it is closed.
func localAddress(conn stream) (local netip.Addr) {
	file, isFile := conn.(*os.File)
	if !isFile {
		return local
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return local
	}
	_ = raw.Control(func(fd uintptr) {
		if at, err := unix.Getsockname(int(fd)); err == nil {
			local = addressOf(at).Addr()
		}
	})
	return local
}

// control calls f with the descriptor of the listening socket.
func (l *listener) control(f func(fd int) error) (err error) {
	if failed := l.raw.Control(func(fd uintptr) { err = f(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

// close closes the listener. accept then returns net.ErrClosed.
func (l *listener) close() {
	l.closed.Store(true)
	_ = l.file.Close() // Close accepts nil
}

// countOverflows returns the number of connections that the kernel rejected because the accept queue was full.
func (l *listener) countOverflows() (drops uint64) {
	_ = l.control(func(fd int) error {
		drops = uint64(socketMemory(fd)[memoryDrops])
		return nil
	})
	return drops
}
