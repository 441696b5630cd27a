package doctor // inside: it uses askListener, database, local and peers

import (
	"crypto/sha256"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// world starts a DNS server that acts as the resolver and as the node, and returns its address. It answers with the
// given records.
func world(t *testing.T, records ...string) (at netip.AddrPort) {
	t.Helper()
	var all []dns.RR
	for _, line := range records {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rr)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		r := new(dns.Msg).SetReply(q)
		r.Authoritative = true
		for _, rr := range all {
			if dns.CanonicalName(rr.Header().Name) == dns.CanonicalName(q.Question[0].Name) &&
				rr.Header().Rrtype == q.Question[0].Qtype {
				r.Answer = append(r.Answer, rr)
			}
		}
		if len(r.Answer) == 0 {
			r.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(r)
	})
	packets, streams := listenBoth(t)
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: streams, Handler: handler}} {
		go func() { _ = s.ActivateAndServe() }()
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return netip.MustParseAddrPort(packets.LocalAddr().String())
}

// worst returns the worst finding about a subject.
func worst(found []Finding, subject string) (w Finding) {
	for _, f := range found {
		if f.Subject == subject && (w.Subject == "" || f.Grade > w.Grade) {
			w = f
		}
	}
	return w
}

const zoneKey = "z.test. 60 IN DNSKEY 257 3 13 " +
	"mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ=="

func fittingDS(t *testing.T) string {
	t.Helper()
	key, err := dns.NewRR(zoneKey)
	if err != nil {
		t.Fatal(err)
	}
	return key.(*dns.DNSKEY).ToDS(dns.SHA256).String()
}

func TestDelegation(t *testing.T) {
	soa := "z.test. 60 IN SOA ns1.z.test. admin.z.test. 1 2 3 4 5"
	for _, c := range []struct {
		name    string
		records []string
		signed  bool
		subject string
		grade   Grade
		text    string
	}{
		{"nobody is delegated to", nil, true, "delegation", Trouble, "the parent has no delegation"},
		{"a name server is missing at the parent", []string{"z.test. 60 IN NS other.test."}, true, "delegation", Advice,
			"not ns1.z.test"},
		{"a name server without an address", []string{"z.test. 60 IN NS ns1.z.test."}, true, "name server", Trouble,
			"no address"},
		{"no DS", []string{"z.test. 60 IN NS ns1.z.test.", zoneKey}, true, "DNSSEC", Advice, "is signed and"},
		{"unsigned, as an operator said", []string{"z.test. 60 IN NS ns1.z.test."}, true, "DNSSEC", Fine, "is not signed"},
		{"so, and the parent has a DS", []string{"z.test. 60 IN NS ns1.z.test.", fittingDS(t)}, true, "DNSSEC", Trouble,
			"are not signed"},
		{"a DS of nothing that is there", []string{"z.test. 60 IN NS ns1.z.test.", zoneKey,
			"z.test. 60 IN DS 1 13 2 " + strings.Repeat("00", sha256.Size)}, true, "DNSSEC", Trouble, "no DS of the parent"},
		{"a DS that fits", []string{"z.test. 60 IN NS ns1.z.test.", zoneKey, fittingDS(t)}, true, "DNSSEC", Fine,
			"is of a key of this node"},
		{"a DS though answers are not signed", []string{"z.test. 60 IN NS ns1.z.test.", zoneKey, fittingDS(t)}, false,
			"DNSSEC", Trouble, "are not signed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := world(t, append(c.records, soa)...)
			p := Node{
				Resolver: at.String(), DNS: []netip.AddrPort{at}, Running: true, Signed: c.signed,
				Zones: []Zone{{"z.test", []string{"ns1.z.test"}}},
			}
			found := delegations(t.Context(), p)
			w := worst(found, c.subject)
			if w.Grade != c.grade || !strings.Contains(w.Text, c.text) {
				t.Errorf("%s: %v, want %v with %q; all: %+v", c.subject, w, c.grade, c.text, found)
			}
			if w.Grade != Fine && w.Remedy == "" {
				t.Errorf("%q says not what to do", w.Text)
			}
		})
	}
}

func TestAnswering(t *testing.T) {
	at := world(t, "z.test. 60 IN SOA ns1.z.test. admin.z.test. 1 2 3 4 5")
	p := Node{DNS: []netip.AddrPort{at}, Running: true, Zones: []Zone{{Name: "z.test"}}}
	if found := CheckAnswers(t.Context(), p); len(found) != 2 || worst(found, "node").Grade != Fine {
		t.Errorf("%+v", found)
	}
	// No server listens at the address.
	l, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.DNS = []netip.AddrPort{netip.MustParseAddrPort(l.LocalAddr().String())}
	_ = l.Close()
	if found := CheckAnswers(t.Context(), p); worst(found, "node").Grade != Trouble {
		t.Errorf("%+v", found)
	}
}

// A node in a flood loses single UDP queries, so the doctor retries each query, as resolvers do.
func TestAnswering_AsksAgainOverUDP(t *testing.T) {
	packets, streams := listenBoth(t) // no goroutine reads the packets
	defer packets.Close()
	defer streams.Close()
	if r, err := askListener(t.Context(), "udp", packets.LocalAddr().String(), "z.test"); err == nil {
		t.Fatalf("an answer: %v", r)
	}
	for range datagramTries {
		if err := packets.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := packets.ReadFrom(make([]byte, dns.MinMsgSize)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLocal(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:53": "127.0.0.1:53", "[::]:53": "[::1]:53", "192.0.2.1:5353": "192.0.2.1:5353",
	} {
		if got := local(netip.MustParseAddrPort(listen)).String(); got != want {
			t.Errorf("%s is reached at %s, want %s", listen, got, want)
		}
	}
}

func TestPeers(t *testing.T) {
	status, skew := http.StatusOK, time.Duration(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(skew).UTC().Format(http.TimeFormat))
		w.WriteHeader(status)
	}))
	defer server.Close()
	p := Node{Peers: []string{server.URL + "/"}}
	if f := worst(peers(t.Context(), p), "peer"); f.Grade != Fine {
		t.Errorf("well: %+v", f)
	}
	skew = -time.Hour
	if f := worst(peers(t.Context(), p), "peer"); f.Grade != Trouble || !strings.Contains(f.Text, "differ by") {
		t.Errorf("an hour behind: %+v", f)
	}
	skew, status = 0, http.StatusForbidden
	if f := worst(peers(t.Context(), p), "peer"); f.Grade != Trouble || !strings.Contains(f.Remedy, "allowed_networks") {
		t.Errorf("refused: %+v", f)
	}
	server.Close()
	if f := worst(peers(t.Context(), p), "peer"); f.Grade != Trouble {
		t.Errorf("gone: %+v", f)
	}
	if f := worst(peers(t.Context(), Node{Peers: []string{"http://[::"}}), "peer"); f.Grade != Trouble {
		t.Errorf("not a URL: %+v", f)
	}
}

func TestSeeds(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Node{Seeds: []string{l.Addr().String()}}
	if f := worst(seeds(t.Context(), p), "gossip seed"); f.Grade != Fine {
		t.Errorf("%+v", f)
	}
	_ = l.Close()
	if f := worst(seeds(t.Context(), p), "gossip seed"); f.Grade != Advice {
		t.Errorf("%+v", f)
	}
}

func TestDatabase(t *testing.T) {
	if f := database(t.Context(), Node{}); f != nil {
		t.Errorf("without one: %+v", f)
	}
	old := filepath.Join("..", "..", "answer", "geo", "testdata", "GeoIP2-Country-Test.mmdb")
	if f := worst(database(t.Context(), Node{Geo: old}), "geolocation"); f.Grade != Advice ||
		!strings.Contains(f.Text, "is old") {
		t.Errorf("an old one: %+v", f)
	}
	broken := filepath.Join(t.TempDir(), "broken.mmdb")
	if err := os.WriteFile(broken, []byte("not an MMDB"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{broken, broken + ".missing"} {
		if f := worst(database(t.Context(), Node{Geo: path}), "geolocation"); f.Grade != Trouble {
			t.Errorf("%s: %+v", path, f)
		}
	}
}

func TestExamine_LooksAtTheMachine(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil { //nolint:gosec // the doctor must report these permissions
		t.Fatal(err)
	}
	found := Examine(t.Context(), Node{DataDir: open, Names: 1 << 40, Signed: true, Resolver: "127.0.0.1:1"})
	if worst(found, "data_dir").Grade != Trouble {
		t.Errorf("a data directory that others may read: %+v", worst(found, "data_dir"))
	}
	if worst(found, "memory").Grade != Trouble {
		t.Errorf("more names than fit: %+v", worst(found, "memory"))
	}
	for _, subject := range []string{"clock", "open files", "node"} {
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Subject == subject }) {
			t.Errorf("nothing was said about %s", subject)
		}
	}
}

// listenBoth opens a port for UDP and TCP. It tries several ports, since a port may be free for only one of them.
func listenBoth(t *testing.T) (packets net.PacketConn, streams net.Listener) {
	t.Helper()
	var err error
	for range 100 {
		if packets, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if streams, err = net.Listen("tcp4", packets.LocalAddr().String()); err == nil {
			return packets, streams
		}
		packets.Close()
	}
	t.Fatal(err)
	return nil, nil
}
