package dnsserver // inside: it uses the same view as the other tests

import (
	"context"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
)

// fakeUpdates has the key acme, and accepts each message that it receives.
type fakeUpdates struct {
	disabled atomic.Bool
	received atomic.Int32
}

func (f *fakeUpdates) IsEnabled() bool         { return !f.disabled.Load() }
func (f *fakeUpdates) HasKey(name string) bool { return !f.disabled.Load() && name == "acme." }

func (f *fakeUpdates) Submit(query []byte, from netip.Addr, send func([]byte)) bool {
	go send(f.Answer(context.Background(), query, from))
	return true
}

func (f *fakeUpdates) Answer(_ context.Context, query []byte, _ netip.Addr) []byte {
	f.received.Add(1)
	reply := query[:headerSize]
	header(reply).setReply(dns.RcodeYXRrset, 0, 0, 0, 0, 0)
	return reply
}

// Only UPDATE messages with a known key reach Updates, over both transports and families, also on an unspecified
// address. Other messages are rejected immediately.
func TestServer_PassesUpdatesWithAKnownKey(t *testing.T) {
	v, updates := testView(t), &fakeUpdates{}
	listen := []string{"127.0.0.1:0", "0.0.0.0:0"}
	if hasIPv6() {
		listen = append(listen, "[::1]:0")
	}
	s, err := New(Options{Listen: listen, View: func() *zone.View { return v }, Registerer: prometheus.NewRegistry(),
		Updates: updates, Logger: zerolog.New(t.Output())})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	send := func(network string, at netip.AddrPort, key string) int {
		t.Helper()
		if at.Addr().IsUnspecified() {
			at = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
		}
		m := new(dns.Msg)
		m.SetUpdate("example.org.")
		client := dns.Client{Net: network, Timeout: 30 * time.Second}
		if key != "" {
			m.SetTsig(key, dns.HmacSHA256, 300, time.Now().Unix())
			client.TsigSecret = map[string]string{key: "c2VjcmV0"}
		}
		reply, _, err := client.Exchange(m, at.String())
		if reply == nil || reply.Opcode != dns.OpcodeUpdate {
			t.Fatalf("%s %s: %v, %v", network, at, reply, err)
		}
		return reply.Rcode
	}
	for _, network := range []string{"udp", "tcp"} {
		for _, at := range s.Addrs() {
			before := updates.received.Load()
			if code := send(network, at, "acme."); code != dns.RcodeYXRrset || updates.received.Load() != before+1 {
				t.Errorf("%s %s: %s", network, at, dns.RcodeToString[code])
			}
			if code := send(network, at, "other."); code != dns.RcodeNotAuth {
				t.Errorf("%s %s, unknown key: %s", network, at, dns.RcodeToString[code])
			}
			if code := send(network, at, ""); code != dns.RcodeRefused {
				t.Errorf("%s %s, unsigned: %s", network, at, dns.RcodeToString[code])
			}
			updates.disabled.Store(true)
			if code := send(network, at, "acme."); code != dns.RcodeNotImplemented {
				t.Errorf("%s %s, without keys: %s", network, at, dns.RcodeToString[code])
			}
			updates.disabled.Store(false)
			if updates.received.Load() != before+1 {
				t.Errorf("%s %s: %d messages were passed", network, at, updates.received.Load()-before)
			}
		}
	}
}
