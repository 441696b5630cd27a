//go:build !linux

package dnsserver

import (
	"net"
	"net/netip"
	"sync/atomic"
)

// listener accepts the TCP connections of one address.
type listener struct {
	tcp     *net.TCPListener
	address netip.AddrPort
	gone    atomic.Uint64 // is not known
}

// newListener makes a listener of tcp, which close closes.
func newListener(tcp *net.TCPListener) (*listener, error) {
	return &listener{tcp: tcp, address: tcp.Addr().(*net.TCPAddr).AddrPort()}, nil
}

// accept returns the next connection and its client, and nothing of what it has sent. After close it returns
// net.ErrClosed.
func (l *listener) accept() (stream, netip.Addr, []byte, error) {
	conn, err := l.tcp.AcceptTCP()
	if err != nil {
		return nil, netip.Addr{}, nil, err
	}
	_ = conn.SetWriteBuffer(sendBuffer)
	return conn, conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone(""), nil, nil
}

func (l *listener) close() { _ = l.tcp.Close() }

// turnedAway returns 0, as the number is not known.
func (l *listener) turnedAway() uint64 { return 0 }
