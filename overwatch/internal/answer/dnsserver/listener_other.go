//go:build !linux

package dnsserver

import (
	"net"
	"net/netip"
	"sync/atomic"
)

// listener accepts the TCP connections of one address.
type listener struct {
	tcp            *net.TCPListener
	address        netip.AddrPort
	closedByClient atomic.Uint64 // always 0: unknown on this system
}

// newListener returns a listener for tcp. close closes tcp.
func newListener(tcp *net.TCPListener) (*listener, error) {
	return &listener{tcp: tcp, address: tcp.Addr().(*net.TCPAddr).AddrPort()}, nil
}

// accept returns the next connection and its client address, without received data. After close it returns
// net.ErrClosed.
func (l *listener) accept() (stream, netip.AddrPort, []byte, error) {
	conn, err := l.tcp.AcceptTCP()
	if err != nil {
		return nil, netip.AddrPort{}, nil, err
	}
	_ = conn.SetWriteBuffer(sendBuffer)
	from := conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	return conn, netip.AddrPortFrom(from.Addr().Unmap().WithZone(""), from.Port()), nil, nil
}

// localAddress returns the local address of an accepted connection.
func localAddress(conn stream) netip.Addr {
	tcp, isTCP := conn.(*net.TCPConn)
	if !isTCP {
		return netip.Addr{}
	}
	return tcp.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")
}

func (l *listener) close() { _ = l.tcp.Close() }

// countOverflows returns 0: the number is unknown on this system.
func (l *listener) countOverflows() uint64 { return 0 }
