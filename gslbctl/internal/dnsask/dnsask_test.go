package dnsask_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/dnsask"
)

// dial connects to a server with two addresses of each family for every name. change edits a reply, and reports whether
// the server sends it.
func dial(t *testing.T, change func(reply *dns.Msg) bool) *dnsask.Conn {
	t.Helper()
	records := map[uint16][]string{dns.TypeA: {"30 IN A 192.0.2.1", "20 IN A 192.0.2.2"},
		dns.TypeAAAA: {"30 IN AAAA 2001:db8::1", "20 IN AAAA 2001:db8::2"}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	server := &dns.Server{Listener: l, NotifyStartedFunc: func() { close(ready) },
		Handler: dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
			reply := new(dns.Msg).SetReply(query)
			for _, record := range records[query.Question[0].Qtype] {
				rr, err := dns.NewRR(query.Question[0].Name + " " + record)
				if err != nil {
					t.Error(err)
				}
				reply.Answer = append(reply.Answer, rr)
			}
			if change(reply) {
				_ = w.WriteMsg(reply)
			}
		})}
	go func() { _ = server.ActivateAndServe() }()
	<-ready
	c, err := dnsask.Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		_ = server.Shutdown()
	})
	return c
}

func TestAsk_TellsAddressesTTLAndFailure(t *testing.T) {
	code, empty := dns.RcodeSuccess, false
	c := dial(t, func(reply *dns.Msg) bool {
		if reply.Rcode = code; empty || code != dns.RcodeSuccess {
			reply.Answer = nil
		}
		return true
	})
	for _, v6 := range []bool{false, true} {
		a, err := c.Ask(t.Context(), "app.example.com", v6)
		if err != nil || len(a.Addresses) != 2 || a.TTL != 20*time.Second || a.Failure != "" || a.Addresses[0].Is6() != v6 {
			t.Errorf("%+v, %v", a, err)
		}
	}
	empty = true
	if a, err := c.Ask(t.Context(), "app.example.com.", false); err != nil || len(a.Addresses) != 0 || a.Failure != "" {
		t.Errorf("no data: %+v, %v", a, err)
	}
	for rcode, want := range map[int]string{dns.RcodeServerFailure: "SERVFAIL", dns.RcodeNameError: "NXDOMAIN",
		14: "response code 14"} {
		code = rcode
		if a, err := c.Ask(t.Context(), "app.example.com", false); err != nil || a.Failure != want {
			t.Errorf("%+v, %v, want %s", a, err, want)
		}
	}
	if _, err := c.Ask(t.Context(), strings.Repeat("a", 300), false); err == nil {
		t.Error("a name that is too long is asked for")
	}
}

func TestAsk_TellsTheFirstHostName(t *testing.T) {
	c := dial(t, func(reply *dns.Msg) bool {
		reply.Answer = nil
		for _, target := range []string{"a.example.net.", "b.example.net."} {
			reply.Answer = append(reply.Answer, &dns.CNAME{Target: target,
				Hdr: dns.RR_Header{Name: "app.example.com.", Rrtype: dns.TypeCNAME, Class: dns.ClassINET, Ttl: 30}})
		}
		return true
	})
	if a, err := c.Ask(t.Context(), "app.example.com", false); err != nil || a.Alias != "a.example.net" ||
		len(a.Addresses) != 0 || a.TTL != 30*time.Second || a.Failure != "" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestAsk_EndsWithItsContext(t *testing.T) {
	c := dial(t, func(*dns.Msg) bool { return false })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Ask(ctx, "app.example.com", false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAsk_AnAnswerAboutSomethingElseIsRefused(t *testing.T) {
	for name, change := range map[string]func(*dns.Msg){
		"a question": func(m *dns.Msg) { m.Response = false }, "another id": func(m *dns.Msg) { m.Id++ },
	} {
		c := dial(t, func(reply *dns.Msg) bool { change(reply); return true })
		if a, err := c.Ask(t.Context(), "app.example.com", false); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
