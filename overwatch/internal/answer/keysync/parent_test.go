package keysync // inside: it uses test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
)

// Parent queries the servers of rollover.parent_servers for the zones of the node, and for no other zone.
func TestParent_AsksTheConfiguredServers(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		reply.Authoritative = true
		ds, err := dns.NewRR(apex + " 3600 IN DS 7 13 2 " + strings.Repeat("AB", 32))
		if err != nil {
			t.Error(err)
		}
		reply.Answer = []dns.RR{ds}
		_ = w.WriteMsg(reply)
	})}
	ready := make(chan struct{})
	server.NotifyStartedFunc = func() { close(ready) }
	go func() { _ = server.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() { _ = server.Shutdown() })

	n, err := newNetwork(t).open("a", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings := n.current()
	settings.Roll.ParentServers = []string{packets.LocalAddr().String()}
	n.Reconfigure(settings)
	found, configured, err := n.Parent(t.Context(), "GSLB.test")
	if err != nil || !configured || len(found.DS) != 1 || found.DS[0].KeyTag != 7 {
		t.Errorf("%+v, %t, %v", found, configured, err)
	}
	if _, _, err := n.Parent(t.Context(), "other.test."); !errors.Is(err, dnssec.ErrNotSigned) {
		t.Errorf("a zone that the node does not serve: %v", err)
	}
}
