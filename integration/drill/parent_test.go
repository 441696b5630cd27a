package drill_test

import (
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"
)

// parent is a server of the parent zone. It answers each question with the DS record of the first key.
type parent struct {
	at string
	ds atomic.Pointer[dns.DS]
}

func startParent(t *testing.T) *parent {
	t.Helper()
	p := &parent{}
	ready, ended := make(chan struct{}), make(chan error, 1)
	server := &dns.Server{Addr: "127.0.0.1:0", Net: "udp", NotifyStartedFunc: func() { close(ready) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
			m := new(dns.Msg).SetReply(q)
			m.Authoritative = true
			if ds := p.ds.Load(); ds != nil {
				m.Answer = []dns.RR{ds}
			}
			_ = w.WriteMsg(m)
		})}
	go func() { ended <- server.ListenAndServe() }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Shutdown(); <-ended })
	p.at = server.PacketConn.LocalAddr().String()
	return p
}

// has sets the DS record of the parent zone, with a TTL of one second.
func (p *parent) has(t *testing.T, record string) {
	t.Helper()
	rr, err := dns.NewRR(record)
	ds, is := rr.(*dns.DS)
	if err != nil || !is {
		t.Fatalf("%q: %v", record, err)
	}
	ds.Hdr.Ttl = lowTTL
	p.ds.Store(ds)
}
