package cli // inside: tests that look inside start it

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer is a stand-in for a node's DNS over TCP: fixed IPv4 addresses by
// name. Other names do not exist.
type dnsServer struct {
	at string

	mu      sync.Mutex
	answers map[string][][4]byte
}

func startDNS(t *testing.T, answers map[string][][4]byte) *dnsServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	s := &dnsServer{at: l.Addr().String(), answers: answers}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *dnsServer) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := s.reply(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

func (s *dnsServer) reply(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil
	}
	m.Response = true
	q := m.Questions[0]
	s.mu.Lock()
	addresses, known := s.answers[strings.TrimSuffix(q.Name.String(), ".")]
	s.mu.Unlock()
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, address := range addresses {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 30}, Body: &dnsmessage.AResource{A: address}})
		}
	}
	packed, _ := m.Pack()
	return packed
}

// answer changes what is answered for a name.
func (s *dnsServer) answer(name string, addresses ...[4]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = addresses
}
