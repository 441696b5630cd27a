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

// signing are the rolls for which a peer is looked at: a zone is to be signed again.
var signing = []dnssec.RollState{
	{Zone: apex, Progress: roll.Progress{Roll: roll.Roll{Goal: roll.ToSigned}, Stage: roll.Published}},
}

// listen opens a port of DNS over TCP on loopback.
func listen(t *testing.T) (net.Listener, uint16) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, netip.MustParseAddrPort(l.Addr().String()).Port()
}

// zoneServer starts a DNS server of a zone, which signs it or not, and returns its port.
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

// A peer is believed only where no DNS of it can be seen: it sends no port, or nothing takes connections at the host of
// its API. One that is there must answer as its keys say.
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
		want string // a part of the reason; empty: it is believed
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
