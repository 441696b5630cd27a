package dnsserver // inside: it uses udpSize

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
)

// startServer starts a server, which runs until the test ends or stop is called. stop waits for the end of the server.
func startServer(t *testing.T, listen ...string) (s *Server, registry *prometheus.Registry, stop func()) {
	t.Helper()
	v := testView(t)
	registry = prometheus.NewRegistry()
	s, err := New(Options{Listen: listen, View: func() *zone.View { return v }, Registerer: registry,
		Logger: zerolog.New(t.Output())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stopped := false
	stop = func() {
		cancel()
		if !stopped {
			stopped = true
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return s, registry, stop
}

// withIPv6 skips the test if this machine has no IPv6.
func withIPv6(t *testing.T) {
	t.Helper()
	if !hasIPv6() {
		t.Skip("no IPv6 on this machine")
	}
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}

// exchange sends one query to a server.
func exchange(t *testing.T, network, server, name string) *dns.Msg {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, dns.TypeA)
	client := dns.Client{Net: network, Timeout: 30 * time.Second}
	answer, _, err := client.Exchange(m, server)
	if err != nil {
		t.Fatalf("%s to %s: %v", network, server, err)
	}
	return answer
}

func TestServer_AnswersOnBothTransportsAndFamilies(t *testing.T) {
	withIPv6(t)
	s, _, _ := startServer(t, "127.0.0.1:0", "[::1]:0")
	if len(s.Addrs()) != 2 {
		t.Fatalf("serving on %v", s.Addrs())
	}
	for _, at := range s.Addrs() {
		for _, network := range []string{"udp", "tcp"} {
			if m := exchange(t, network, at.String(), "one.gslb.test."); describe(
				m) != "NOERROR aa rd; one.gslb.test. 60 IN A 10.0.0.6" {
				t.Errorf("%s to %s: %s", network, at, describe(m))
			}
		}
	}
	if got := s.QueriesTotal(); got != 4 {
		t.Errorf("%d queries counted, want 4", got)
	}
}

// A connected client drops responses that do not come from the queried address.
func TestServer_AnswersFromTheAddressThatWasAsked(t *testing.T) {
	s, _, _ := startServer(t, ":0")
	for _, at := range s.Addrs() {
		hosts := []string{"127.0.0.1", "127.0.0.5", "127.99.1.2"}
		if at.Addr().Is6() {
			hosts = []string{"::1"}
			if !hasIPv6() {
				hosts = nil // a kernel with IPv6 opens IPv6 sockets even if no interface has an IPv6 address
			}
		}
		for _, host := range hosts {
			server := netip.AddrPortFrom(netip.MustParseAddr(host), at.Port()).String()
			if m := exchange(t, "udp", server, "one.gslb.test."); m.Rcode != dns.RcodeSuccess {
				t.Errorf("%s: %s", server, describe(m))
			}
		}
	}
}

func TestServer_AnswersWhatHadArrivedBeforeTheStop(t *testing.T) {
	v := testView(t)
	s, err := New(Options{Listen: []string{"127.0.0.1:0"}, View: func() *zone.View { return v },
		Registerer: prometheus.NewRegistry(), Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("udp", s.Addrs()[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const queries = 100
	for range queries {
		if _, err := conn.Write(query(t, "one.gslb.test.", dns.TypeA)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	for i := range queries {
		if _, err := conn.Read(make([]byte, udpSize)); err != nil {
			t.Fatalf("answer %d of %d: %v", i+1, queries, err)
		}
	}
}

func TestNew_APortInUseIsAnErrorWithARemedy(t *testing.T) {
	first, _, _ := startServer(t, "127.0.0.1:0")
	taken := first.Addrs()[0].String()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for _, at := range []string{taken, udp.LocalAddr().String()} {
		_, err := New(Options{Listen: []string{at}, View: func() *zone.View { return nil },
			Registerer: prometheus.NewRegistry()})
		if err == nil || !strings.Contains(err.Error(), "dns.listen_address: cannot listen on "+at) ||
			!strings.Contains(err.Error(), "ss -lnp") {
			t.Errorf("%s: %v, want an error that names the key, the address and a remedy", at, err)
		}
	}
}

func TestNew_RefusesWhatCannotBeServedOn(t *testing.T) {
	for listen, say := range map[string]string{
		"localhost:53":    "not a name",
		"127.0.0.1":       "want address:port",
		"::1:53":          "want address:port",
		":domain":         "not a number",
		":70000":          "not a number",
		"192.0.2.99:5353": "does not have this address",
		"":                "want address:port",
	} {
		_, err := New(Options{Listen: []string{listen}, View: func() *zone.View { return nil },
			Registerer: prometheus.NewRegistry()})
		if err == nil || !strings.Contains(err.Error(), "dns.listen_address") || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want an error that says %q", listen, err, say)
		}
	}
	if _, err := New(Options{Registerer: prometheus.NewRegistry()}); err == nil {
		t.Error("no address was accepted")
	}
	if _, err := New(Options{Listen: []string{"127.0.0.1:0"}, NSID: strings.Repeat("x", MaxNSID+1),
		Registerer: prometheus.NewRegistry()}); err == nil {
		t.Error("a name server identifier without room was accepted")
	}
}

func TestServer_ExportsWhatItCounts(t *testing.T) {
	s, registry, _ := startServer(t, "127.0.0.1:0")
	at := s.Addrs()[0].String()
	exchange(t, "udp", at, "one.gslb.test.")
	exchange(t, "tcp", at, "nx.gslb.test.")
	exchange(t, "udp", at, "big.gslb.test.")
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.Metric {
			name := f.GetName()
			for _, label := range m.Label {
				name += " " + label.GetValue()
			}
			got[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"gslb_dns_queries_total success": 2, "gslb_dns_queries_total nxdomain": 1, "gslb_dns_queries_total dropped": 0,
		"gslb_dns_truncated_total": 1, "gslb_dns_udp_unsent_total": 0, "gslb_dns_udp_overflow_total": 0,
		"gslb_dns_udp_stale_total": 0, "gslb_dns_tcp_overflow_total": 0,
		"gslb_dns_tcp_evicted_total client": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
}
