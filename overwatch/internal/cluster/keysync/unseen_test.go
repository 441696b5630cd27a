package keysync // inside: it calls dnsProblem

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// signing contains the rolls for which a node checks a peer's DNS: a zone becomes signed again.
var signing = []dnssec.RollState{
	{Zone: apex, Progress: roll.Progress{Roll: roll.Roll{Goal: roll.ToSigned}, Stage: roll.Published}},
}

// listen opens a TCP port for DNS on loopback.
func listen(t *testing.T) (net.Listener, uint16) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, netip.MustParseAddrPort(l.Addr().String()).Port()
}

// zoneServer starts a DNS server of a signed or unsigned zone, and returns its port.
func zoneServer(t *testing.T, signed bool) uint16 {
	t.Helper()
	l, port := listen(t)
	ready, ended := make(chan struct{}), make(chan error, 1)
	server := &dns.Server{Listener: l, NotifyStartedFunc: func() { close(ready) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			m := new(dns.Msg).SetReply(q)
			if signed {
				m.Answer = []dns.RR{&dns.RRSIG{Hdr: dns.RR_Header{Name: apex, Rrtype: dns.TypeRRSIG, Class: dns.ClassINET},
					TypeCovered: q.Question[0].Qtype, Algorithm: dns.ED25519, SignerName: apex, Signature: "AAAA"}}
			}
			_ = w.WriteMsg(m)
		})}
	go func() { ended <- server.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() { _ = server.Shutdown(); <-ended })
	return port
}

// The message of a peer is sufficient only if its DNS server is unreachable: the peer sends no port, or no server
// accepts connections at the host of its API. A reachable DNS server must answer with the keys of the message.
func TestUnseen_APeerIsBelievedOnlyWhereItHasNoDNS(t *testing.T) {
	breaking, broken := listen(t)
	go func() {
		for {
			conn, err := breaking.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = breaking.Close() })
	closed, refused := listen(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		port uint16
		want string // a part of the reason; empty: the message is sufficient
	}{
		"it signs":                  {zoneServer(t, true), ""},
		"it does not sign":          {zoneServer(t, false), "does not sign gslb.test. yet"},
		"it breaks off":             {broken, "does not answer"},
		"connections are refused":   {refused, ""},
		"it does not serve DNS yet": {0, ""},
	} {
		got := (&Sync{}).dnsProblem(t.Context(), &outcome{peer: "http://127.0.0.1:8080", about: About{Port: c.port}}, signing)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
