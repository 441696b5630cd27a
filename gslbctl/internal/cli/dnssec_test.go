package cli // inside: it shares fake_test.go

import (
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func TestDNSSECSync_SaysWhatCameOfEachPeer(t *testing.T) {
	reason := "nothing listens there"
	well, ill := startNode(t), startNode(t)
	ill.set("POST /api/v1/dnssec/sync", api.DNSSECSync{
		Peers: []api.DNSSECPeerSync{{Peer: "http://192.0.2.9:8080", Error: &reason}}})
	r := call(t, cmdline.System{}, []*node{well, ill}, "dnssec", "sync", "--api", documented(0))
	if r.code != 0 || !strings.Contains(r.out, "http://192.0.2.2:8080") || !strings.Contains(r.out, "yes") {
		t.Errorf("%+v", r)
	}
	r = ask(t, "dnssec sync", well, ill)
	if r.code != 1 || !strings.Contains(r.out, reason) || !strings.Contains(r.errors, "1 of 2 exchanges failed") {
		t.Errorf("%+v", r)
	}
	ill.set("POST /api/v1/dnssec/sync", &api.Error{Status: 400, Message: "no peer is configured"})
	if r = ask(t, "dnssec sync", ill); r.code != 1 || !strings.Contains(r.errors, "no peer is configured") {
		t.Errorf("%+v", r)
	}
}

// unsigned starts a DNS server whose zones have no keys, and returns its address.
func unsigned(t *testing.T) string {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dns.Server{PacketConn: packets, Handler: dns.HandlerFunc(func(w dns.ResponseWriter,
		q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetReply(q))
	})}
	ready := make(chan struct{})
	s.NotifyStartedFunc = func() { close(ready) }
	go func() { _ = s.ActivateAndServe() }()
	<-ready
	t.Cleanup(func() { _ = s.Shutdown() })
	return packets.LocalAddr().String()
}

// Without --resolver a node queries the parent's servers. An unsigned answer below a DS record is bogus.
func TestDNSSECCheck_ANodeAsksTheParent(t *testing.T) {
	server := unsigned(t)
	ds := api.DSRecord{Zone: "example.com.", DSRecord: "example.com. IN DS 34505 13 2 " +
		"B07EE2C9BEB4D06CB52B1F96B9B2A2C6C6EEF2B4EA5F6D1E1A5CBA2AC1F0B0A7"}
	for said, c := range map[string]struct {
		code   int
		answer api.ParentDS
	}{
		"bogus":                           {1, api.ParentDS{Configured: true, DSRecords: []api.DSRecord{ds}}},
		"insecure":                        {1, api.ParentDS{DSRecords: []api.DSRecord{}}},
		"rollover.parent_servers: silent": {2, api.ParentDS{Configured: true, Problem: pointer("silent")}},
	} {
		n := startNode(t)
		n.set("GET /api/v1/dnssec/parent/example.com.", c.answer)
		r := call(t, cmdline.System{}, []*node{n}, "dnssec", "check", "example.com", "--dns", server, "--api",
			documented(0))
		if r.code != c.code || !strings.Contains(r.out+r.errors, said) {
			t.Errorf("%s: %+v", said, r)
		}
	}
}

func TestDNSSECCheck_ExitCodes(t *testing.T) {
	n, server := startNode(t), unsigned(t)
	const ds = "34505 13 2 B07EE2C9BEB4D06CB52B1F96B9B2A2C6C6EEF2B4EA5F6D1E1A5CBA2AC1F0B0A7"
	for args, want := range map[string]struct {
		code int
		said string
	}{
		"check example.com --server " + server + " --ds|" + ds:                   {1, "bogus"},
		"check --dns " + server + " --ds|" + ds + "|--api|" + documented(0):      {1, "bogus"},
		"check example.com --server " + server + " --resolver " + server:         {1, "insecure"},
		"check example.com --ds|" + ds + "|--timeout|300ms|--server|127.0.0.1:1": {2, "no server answers"},
		"check example.com --ds nonsense --server " + server:                     {2, "is no DS record"},
		"check example.com --server http://x":                                    {2, "give an address or host:port"},
		"check a..b --server " + server:                                          {2, "is not the name of a zone"},
		"check example.com --server " + server + " --resolver 127.0.0.1:1": {2,
			"name a resolver with --resolver"},
	} {
		var words []string
		for i, part := range strings.Split(args, "|") {
			if i == 0 {
				words = strings.Fields(part)
			} else {
				words = append(words, part)
			}
		}
		r := call(t, cmdline.System{Tells: true}, []*node{n}, append([]string{"dnssec"}, words...)...)
		if r.code != want.code || !strings.Contains(r.out+r.errors, want.said) {
			t.Errorf("%s: code %d, want %d and %q\n%s%s", args, r.code, want.code, want.said, r.out, r.errors)
		}
	}
}

func TestDNSSECDS_EndsWithOneWithoutARecord(t *testing.T) {
	n := startNode(t)
	for enabled, words := range map[bool]string{true: "There is no DS record yet", false: "not signed"} {
		n.answers["GET /api/v1/dnssec/ds"] = api.DSRecords{Enabled: enabled, DSRecords: []api.DSRecord{}}
		if r := ask(t, "dnssec ds", n); r.code != 1 || !strings.Contains(r.out, words) {
			t.Errorf("%+v", r)
		}
		if r := ask(t, "dnssec ds -o name", n); r.code != 1 || r.out != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestDNSSEC_KeysThatAreNotExchangedAreTold(t *testing.T) {
	n := startNode(t)
	reason, warning := "overwatch.dnssec.key_sync.secret is not set", "the nodes sign with different keys"
	n.answers["GET /api/v1/dnssec/status"] = api.DNSSECStatus{Enabled: true,
		Sync: api.DNSSECSyncState{Enabled: true, PeerCount: 1, OffReason: &reason,
			Peers: []api.DNSSECPeer{{Peer: "http://192.0.2.3:8080", Error: &reason}}}}
	ds := api.DSRecord{DSRecord: "example.com. IN DS 34505 13 2 B07E"}
	n.answers["GET /api/v1/dnssec/ds"] = api.DSRecords{Enabled: true, DSRecords: []api.DSRecord{ds}, Warning: &warning}
	if r := ask(t, "dnssec status", n); r.code != 0 || strings.Count(r.out, reason) != 1 {
		t.Errorf("status: %d %s %s", r.code, r.out, r.errors)
	}
	if r := ask(t, "dnssec ds", n); r.code != 1 || !strings.Contains(r.out, "34505") ||
		!strings.Contains(r.errors, warning) {
		t.Errorf("ds: %d %s %s", r.code, r.out, r.errors)
	}
}
