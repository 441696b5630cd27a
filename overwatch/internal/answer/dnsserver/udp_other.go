//go:build !linux

package dnsserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"
)

// Systems other than Linux are for development only: one socket per address, one message per system call, and on an
// unspecified address the system selects the source of replies.

func socketsPerAddress() int { return 1 }

func socketOptions(netip.AddrPort, bool) func(network, address string, c syscall.RawConn) error {
	return nil
}

func maxDescriptors() int { return 1024 }

// udpSocket answers the queries of one socket.
type udpSocket struct {
	conn        *net.UDPConn
	responder   *responder
	isDuplicate bool // another udpSocket reads the same socket
}

func newUDPSocket(conn *net.UDPConn, r *responder) (*udpSocket, error) {
	return &udpSocket{conn: conn, responder: r}, nil
}

// serve answers queries until stop is called, and closes the socket.
func (s *udpSocket) serve() error {
	defer func() { _ = s.conn.Close() }()
	query, reply := make([]byte, maxMessage), make([]byte, 0, maxUDPSize)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(query)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		} else if err != nil {
			return fmt.Errorf("receive DNS queries on %s: %w", s.conn.LocalAddr(), err)
		}
		s.responder.updateSecond()
		began := s.responder.counts.timer.start()
		client := netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		destination := s.conn.LocalAddr().(*net.UDPAddr).AddrPort()
		message, h := s.responder.unwrap(query[:n], client.Addr())
		if h.client.IsValid() {
			client, destination = h.client, h.destination
		}
		if s.submitUpdate(message, client.Addr(), from) {
			continue
		}
		if s.responder.observers != nil {
			s.responder.observers.received = time.Now()
		}
		msg := s.responder.respond(message, client.Addr(), false, reply)
		if o := s.responder.observers; o != nil && o.isSelected(&s.responder.single) {
			s.responder.record(message, msg, client, destination)
		}
		if msg != nil {
			if _, err := s.conn.WriteToUDPAddrPort(msg, from); err != nil {
				s.responder.counts.unsent.Add(1)
			}
		}
		s.responder.counts.timer.stop(began, 1)
	}
}

// submitUpdate passes a DNS UPDATE message to Updates. It returns false for other messages.
func (s *udpSocket) submitUpdate(query []byte, client netip.Addr, from netip.AddrPort) bool {
	r := s.responder
	if r.updates == nil {
		return false
	}
	r.readRequest(&r.single, query, client, false)
	if !r.isUpdate(&r.single, query) {
		return false
	}
	r.updates.Submit(slices.Clone(query), client, func(reply []byte) {
		_, _ = s.conn.WriteToUDPAddrPort(reply, from) // fails after close
	})
	return true
}

// stop makes serve return. It does not block.
func (s *udpSocket) stop() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) }

func (s *udpSocket) close() { _ = s.conn.Close() }

// countDrops returns 0: the number is unknown on this system.
func (s *udpSocket) countDrops() uint64 { return 0 }
