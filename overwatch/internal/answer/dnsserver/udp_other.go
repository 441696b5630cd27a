//go:build !linux

package dnsserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// Other systems than Linux are for development: one socket per address, one message per call, and on an unspecified
// address the system chooses where answers come from.

func socketsPerAddress() int { return 1 }

func socketOptions(netip.AddrPort, bool) func(network, address string, c syscall.RawConn) error {
	return nil
}

func descriptors() int { return 1024 }

// udpSocket answers the queries that arrive on one socket.
type udpSocket struct {
	conn      *net.UDPConn
	responder *responder
	twin      bool // another udpSocket reads the same socket
}

func newUDPSocket(conn *net.UDPConn, r *responder) (*udpSocket, error) {
	return &udpSocket{conn: conn, responder: r}, nil
}

// serve answers until stop is called and closes the socket.
func (s *udpSocket) serve() error {
	defer func() { _ = s.conn.Close() }()
	query, reply := make([]byte, maxMessage), make([]byte, 0, maxUDPSize)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(query)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		} else if err != nil {
			return fmt.Errorf("receiving DNS queries on %s: %w", s.conn.LocalAddr(), err)
		}
		s.responder.tick()
		began := s.responder.counts.clock.begin()
		if msg := s.responder.respond(query[:n], from.Addr().Unmap(), false, reply); msg != nil {
			if _, err := s.conn.WriteToUDPAddrPort(msg, from); err != nil {
				s.responder.counts.unsent.Add(1)
			}
		}
		s.responder.counts.clock.end(began, 1)
	}
}

// stop makes serve return. It does not wait.
func (s *udpSocket) stop() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) }

func (s *udpSocket) close() { _ = s.conn.Close() }

// drops returns 0, as the number is not known.
func (s *udpSocket) drops() uint64 { return 0 }
