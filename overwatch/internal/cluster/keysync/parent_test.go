package keysync // inside: it shares cluster_test.go

import (
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/dnssec"
	"gslb.internal/overwatch/internal/answer/dnssec/roll"
)

// Parent queries the servers of rollover.parent_servers for the zones of the node, and for no other zone.
func TestParent_AsksTheConfiguredServers(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var questions atomic.Int32
	server := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		questions.Add(1)
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
	settings := n.settings.Get()
	settings.Roll.ParentServers = []string{packets.LocalAddr().String()}
	n.Reconfigure(settings)
	found, configured, err := n.Parent(t.Context(), "GSLB.test")
	if err != nil || !configured || len(found.DS) != 1 || found.DS[0].KeyTag != 7 {
		t.Errorf("%+v, %t, %v", found, configured, err)
	}
	asked := questions.Load()
	_, _, parent := n.Parent(t.Context(), "other.test.")
	_, begin := n.BeginRoll(t.Context(), "other.test.", dnssec.RollOptions{})
	_, unsign := n.BeginTransition(t.Context(), "other.test.", roll.ToUnsigned)
	_, preview := n.PreviewTransition(t.Context(), "other.test.", roll.ToUnsigned)
	for call, err := range map[string]error{"Parent": parent, "BeginRoll": begin, "BeginWay": unsign,
		"PreviewWay": preview} {
		if !errors.Is(err, dnssec.ErrNotSigned) {
			t.Errorf("%s of a zone that the node does not serve: %v", call, err)
		}
	}
	if now := questions.Load(); now != asked {
		t.Errorf("the parent of a zone that the node does not serve got %d questions", now-asked)
	}
}
