package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func TestDiff_ShowsWhatNodesSayDifferently(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	zone := []string{"example.com. NS ow-1.example.com.", "ow-1.example.com. A 192.0.2.1"}
	at := startZone(t, "tcp", zone...)
	args := []string{"diff", "--api", documented(0), "--api", documented(1), "--dns", at, "--dns", at,
		"--parent", startZone(t, "udp", zone...)}
	for _, n := range nodes {
		n.answers["GET /api/v1/config/dns"] = api.DNSConfigAnswer{Config: api.DNSConfig{Zones: []string{"example.com"}}}
	}
	if r := call(t, cmdline.System{}, nodes, args...); r.code != 0 || r.out != "The 2 nodes say the same.\n" {
		t.Errorf("%+v", r)
	}
	nodes[1].answers["GET /api/v1/overrides"] = api.OverrideList{}
	nodes[1].answers["GET /api/v1/domains"] = api.DomainList{Total: 2,
		Domains: []api.Domain{{RoutingPolicy: "weighted", Domain: model.Domain{Name: "app.example.com",
			RoutingAlgorithm: "weighted", TTL: 300, Enabled: true}},
			{Domain: model.Domain{Name: "new.example.com"}}}}
	nodes[1].answers["GET /api/v1/dnssec/status"] = api.DNSSECStatus{}
	agents := fakeAgents()
	agents[0].Fingerprint = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	nodes[1].answers["GET /api/v1/overwatch/agents"] = api.AgentList{Agents: agents, Total: len(agents)}
	r := call(t, cmdline.System{}, nodes, args...)
	if r.code != 1 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "diff", r.out)
	if r := call(t, cmdline.System{}, nodes, "diff", "--api", documented(0), "--api", dead(t)); r.code != 2 ||
		r.out != "" ||
		!strings.Contains(r.errors, "nothing can be compared: nothing listens") {
		t.Errorf("one is gone: %+v", r)
	}
	// Without the third node, the command compares the other nodes and reports that the third node is missing.
	three := append(args, "--api", dead(t))
	if other := call(t, cmdline.System{}, nodes, three...); other.code != 1 || other.out != r.out ||
		!strings.Contains(other.errors, "not compared: nothing listens") {
		t.Errorf("one of three is gone: %+v", other)
	}
	if other := call(t, cmdline.System{}, nodes, append([]string{"-o", "json"},
		three...)...); !strings.Contains(other.out,
		`"unasked": {`) {
		t.Errorf("one of three is gone: %+v", other)
	}
	nodes[1].answers["GET /api/v1/servers"] = &api.Error{Status: 401, Message: "this needs a token"}
	if r := call(t, cmdline.System{}, nodes, args...); r.code != 2 ||
		!strings.Contains(r.errors, "nothing can be compared: "+"http://"+documented(1)) {
		t.Errorf("one refuses: %+v", r)
	}
}

// startZone starts a DNS server for one transport that answers with the records in zone file lines, and returns its
// address. The additional section of NS answers contains the records of name servers, as glue.
func startZone(t *testing.T, network string, lines ...string) string {
	t.Helper()
	var records []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, rr)
	}
	ready := make(chan struct{})
	server := &dns.Server{Addr: "127.0.0.1:0", Net: network, NotifyStartedFunc: func() { close(ready) }}
	server.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		reply, q := new(dns.Msg).SetReply(query), query.Question[0]
		for _, rr := range records {
			switch {
			case strings.EqualFold(rr.Header().Name, q.Name) && rr.Header().Rrtype == q.Qtype:
				reply.Answer = append(reply.Answer, rr)
			case q.Qtype == dns.TypeNS && rr.Header().Rrtype != dns.TypeNS:
				reply.Extra = append(reply.Extra, rr)
			}
		}
		_ = w.WriteMsg(reply)
	})
	go func() { _ = server.ListenAndServe() }()
	<-ready
	t.Cleanup(func() { _ = server.Shutdown() })
	if network == "udp" {
		return server.PacketConn.LocalAddr().String()
	}
	return server.Listener.Addr().String()
}

func TestDiff_ComparesNameServersWithEachOtherAndWithGlue(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	for _, n := range nodes {
		n.answers["GET /api/v1/config/dns"] = api.DNSConfigAnswer{Config: api.DNSConfig{Zones: []string{"gslb.test"}}}
	}
	list := []string{"gslb.test. NS ns1.gslb.test.", "gslb.test. NS ns2.gslb.test.", "gslb.test. NS ns.example.net.",
		"ns2.gslb.test. A 198.51.100.10"}
	first := startZone(t, "tcp", append(list, "ns1.gslb.test. A 203.0.113.10", "ns1.gslb.test. A 10.0.0.5")...)
	second := startZone(t, "tcp", append(list, "ns1.gslb.test. A 203.0.113.10")...)
	parent := startZone(t, "udp", "gslb.test. NS ns1.gslb.test.", "gslb.test. NS ns.example.net.",
		"ns1.gslb.test. A 203.0.113.10", "ns1.gslb.test. AAAA 2001:db8::1")
	args := []string{"diff", "--api", documented(0), "--api", documented(1), "--dns", first, "--dns", second}
	r := call(t, cmdline.System{}, nodes, append(args, "--parent", parent)...)
	if r.code != 1 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "diff_nameservers", r.out)
	empty := startZone(t, "udp")
	r = call(t, cmdline.System{}, nodes, append(args, "--parent", empty)...)
	if r.code != 1 || !strings.Contains(r.out, "ns1.gslb.test") || strings.Contains(r.out, "ns2.gslb.test") ||
		!strings.Contains(r.errors, "the glue of gslb.test was not compared: the parent's server "+empty) {
		t.Errorf("the parent has no delegation: %+v", r)
	}
	args[len(args)-1] = dead(t)
	r = call(t, cmdline.System{}, nodes, append(args, "--parent", parent)...)
	if r.code != 1 || !strings.Contains(r.out, "no answer") || !strings.Contains(r.errors, "were not compared") {
		t.Errorf("one node's DNS is silent: %+v", r)
	}
}
