package cli // inside: tests that look inside start it

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// dnsServer simulates a node's DNS server over TCP: fixed IPv4 addresses by name. Other names do not exist.
type dnsServer struct {
	at string

	mu      sync.Mutex
	answers map[string][][4]byte
	aliases map[string]string // host names that stand in CNAME records, by name
}

func startDNS(t *testing.T, answers map[string][][4]byte) *dnsServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{at: l.Addr().String(), answers: answers}
	ready := make(chan struct{})
	server := &dns.Server{Listener: l, Handler: s, NotifyStartedFunc: func() { close(ready) }}
	go func() { _ = server.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() { _ = server.Shutdown() })
	return s
}

func (s *dnsServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	reply := new(dns.Msg).SetReply(query)
	q := query.Question[0]
	s.mu.Lock()
	addresses, known := s.answers[strings.TrimSuffix(q.Name, ".")]
	alias := s.aliases[strings.TrimSuffix(q.Name, ".")]
	s.mu.Unlock()
	switch {
	case alias != "":
		reply.Answer = append(reply.Answer, &dns.CNAME{Target: dns.Fqdn(alias),
			Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: 30}})
	case !known:
		reply.Rcode = dns.RcodeNameError
	}
	for _, address := range addresses {
		if q.Qtype == dns.TypeA {
			reply.Answer = append(reply.Answer, &dns.A{A: address[:],
				Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 30}})
		}
	}
	_ = w.WriteMsg(reply)
}

// answer changes the answer for a name.
func (s *dnsServer) answer(name string, addresses ...[4]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name] = addresses
	delete(s.aliases, name)
}

// alias makes the server answer a name with only a host name.
func (s *dnsServer) alias(name, target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name], s.aliases = nil, map[string]string{name: target}
}
