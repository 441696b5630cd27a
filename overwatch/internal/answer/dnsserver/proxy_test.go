package dnsserver // inside: it uses readProxyHeader, responder and connections

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
)

// farClient is in the region far of placedView.
var (
	farClient  = netip.MustParseAddrPort("203.0.113.7:4711")
	farClient6 = netip.MustParseAddrPort("[2001:db8:2::7]:4711")
)

// proxyHead returns a header with a command and the octets after its length.
func proxyHead(command, family byte, rest ...[]byte) []byte {
	data := bytes.Join(rest, nil)
	head := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), command, family)
	return append(binary.BigEndian.AppendUint16(head, uint16(len(data))), data...)
}

// proxyFor returns the header for a client, with a destination of the same family.
func proxyFor(client netip.AddrPort, transport byte, tlvs ...byte) []byte {
	family, to := byte(0x10), netip.MustParseAddr("192.0.2.53")
	if client.Addr().Is6() {
		family, to = 0x20, netip.MustParseAddr("2001:db8::53")
	}
	ports := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, client.Port()), 53)
	return proxyHead(0x21, family|transport, client.Addr().AsSlice(), to.AsSlice(), ports, tlvs)
}

func TestReadProxyHeader(t *testing.T) {
	const rejected, incomplete = -1, 0
	for _, c := range []struct {
		name   string
		data   []byte
		size   int
		client string
	}{
		{"IPv4 over UDP", proxyFor(farClient, 2), 28, "203.0.113.7:4711 192.0.2.53:53"},
		{"IPv6 over TCP", proxyFor(farClient6, 1), 52, "[2001:db8:2::7]:4711 [2001:db8::53]:53"},
		{"IPv4-mapped", proxyFor(netip.MustParseAddrPort("[::ffff:203.0.113.7]:4711"), 1), 52,
			"203.0.113.7:4711 [2001:db8::53]:53"},
		{"TLVs", proxyFor(farClient, 2, 0xE0, 0, 2, 'a', 'b'), 33, "203.0.113.7:4711 192.0.2.53:53"},
		{"TLVs that are invalid", proxyFor(farClient, 2, 0xE0, 0xFF, 0xFF), 31, "203.0.113.7:4711 192.0.2.53:53"},
		{"the maximum size", proxyFor(farClient, 2, make([]byte, 512-28)...), 512, "203.0.113.7:4711 192.0.2.53:53"},
		{"too long", proxyFor(farClient, 2, make([]byte, 512-27)...), rejected, ""},
		{"LOCAL", proxyHead(0x20, 0), 16, ""},
		{"LOCAL with addresses", proxyHead(0x20, 0x12, make([]byte, 12)), 28, ""},
		{"no family", proxyHead(0x21, 0), 16, ""},
		{"unix", proxyHead(0x21, 0x31, make([]byte, 216)), 232, ""},
		{"unknown command", proxyHead(0x22, 0x12, make([]byte, 12)), rejected, ""},
		{"version 1", []byte("PROXY TCP4 203.0.113.7 192.0.2.53 4711 53\r\n"), rejected, ""},
		{"unknown version", proxyHead(0x31, 0x12, make([]byte, 12)), rejected, ""},
		{"unknown family", proxyHead(0x21, 0x42, make([]byte, 12)), rejected, ""},
		{"unknown transport", proxyHead(0x21, 0x13, make([]byte, 12)), rejected, ""},
		{"too few addresses", proxyHead(0x21, 0x12, make([]byte, 11)), rejected, ""},
		{"too few IPv6 addresses", proxyHead(0x21, 0x22, make([]byte, 35)), rejected, ""},
		{"a query", query(t, "one.gslb.test.", dns.TypeA), rejected, ""},
		{"nothing", nil, incomplete, ""},
	} {
		h, size, ok := readProxyHeader(append(c.data, "rest"...))
		if c.data == nil {
			h, size, ok = readProxyHeader(nil)
		}
		if !ok {
			size = rejected
		}
		got := ""
		if h.client.IsValid() {
			got = h.client.String() + " " + h.destination.String()
		}
		if size != c.size || got != c.client {
			t.Errorf("%s: %d octets, %q; want %d and %q", c.name, size, got, c.size, c.client)
		}
		for end := range max(c.size, 0) {
			if _, size, ok := readProxyHeader(c.data[:end]); size != 0 || !ok {
				t.Errorf("%s: the first %d octets: %d, %t", c.name, end, size, ok)
			}
		}
	}
}

// FuzzReadProxyHeader sends data to readProxyHeader. It must not panic, must stay in the data and in the bound of the
// size, and a prefix of a valid header must be incomplete.
func FuzzReadProxyHeader(f *testing.F) {
	f.Add(proxyFor(farClient, 2, 0xE0, 0, 1, 'a'))
	f.Add(proxyFor(farClient6, 1))
	f.Add(proxyHead(0x20, 0))
	f.Add(proxyHead(0x21, 0x31, make([]byte, 216)))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, size, ok := readProxyHeader(data)
		if size < 0 || size > min(len(data), maxProxySize) || !ok && size != 0 {
			t.Fatalf("size %d of %d, %t", size, len(data), ok)
		}
		if size == 0 {
			if h != (proxyHeader{}) {
				t.Fatalf("%+v without a header", h)
			}
			return
		}
		if size < proxyFixedSize || h.client.IsValid() != h.destination.IsValid() || h.client.Addr().Is4In6() {
			t.Fatalf("%d octets, %+v", size, h)
		}
		if _, half, ok := readProxyHeader(data[:size-1]); half != 0 || !ok {
			t.Fatalf("without its last octet: %d, %t", half, ok)
		}
	})
}

// startProxied starts a server of placedView for proxies.
func startProxied(t *testing.T, listen string, proxies ...string) (at string, registry *prometheus.Registry) {
	t.Helper()
	v := placedView(t)
	registry = prometheus.NewRegistry()
	o := Options{Listen: []string{listen}, View: func() *zone.View { return v }, Registerer: registry,
		Logger: zerolog.New(t.Output())}
	for _, proxy := range proxies {
		o.Proxies = append(o.Proxies, netip.MustParsePrefix(proxy))
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s.Addrs()[0].String(), registry
}

// send sends the parts to a server in separate writes and returns the address in the reply; "none" without a reply.
func send(t *testing.T, network, server string, parts ...[]byte) string {
	t.Helper()
	conn, err := net.Dial(network, server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if network == "tcp" {
		last := parts[len(parts)-1]
		parts[len(parts)-1] = append(binary.BigEndian.AppendUint16(nil, uint16(len(last))), last...)
	} else {
		parts = [][]byte{bytes.Join(parts, nil)}
	}
	for _, part := range parts {
		if _, err := conn.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	reply := make([]byte, 4096)
	_ = conn.SetReadDeadline(time.Now().Add(replyBound(network)))
	n, err := conn.Read(reply)
	if errors.Is(err, io.EOF) || os.IsTimeout(err) || err != nil && network == "tcp" {
		return "none"
	} else if err != nil {
		t.Fatal(err)
	}
	reply = reply[:n]
	if network == "tcp" {
		reply = reply[2:]
	}
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatal(err)
	}
	if len(m.Answer) == 0 {
		return dns.RcodeToString[m.Rcode]
	}
	return m.Answer[0].(*dns.A).A.String()
}

// replyBound returns the time for a reply. A datagram without a reply costs this time, and a TCP connection is closed.
func replyBound(network string) time.Duration {
	if network == "udp" {
		return time.Second
	}
	return 30 * time.Second
}

func TestServer_TheClientIsWhoTheProxyNames(t *testing.T) {
	const far, home = "10.9.0.1", "10.0.0.6"
	packet := query(t, "one.gslb.test.", dns.TypeA)
	local := proxyHead(0x20, 0)
	for _, listen := range []string{"127.0.0.1:0", ":0"} {
		at, registry := startProxied(t, listen, "127.0.0.0/8", "::1/128")
		_, port, _ := net.SplitHostPort(at)
		at = net.JoinHostPort("127.0.0.1", port)
		for network, transport := range map[string]byte{"udp": 2, "tcp": 1} {
			head, head6 := proxyFor(farClient, transport), proxyFor(farClient6, transport)
			other := proxyFor(netip.MustParseAddrPort("198.51.100.7:4711"), transport, 0xE0, 0, 1, 'a')
			for _, c := range []struct {
				name  string
				parts [][]byte
				want  string
			}{
				{"IPv4", [][]byte{head, packet}, far},
				{"IPv6", [][]byte{head6, packet}, far},
				{"another client, with TLVs", [][]byte{other, packet}, home},
				{"in parts", [][]byte{head[:5], head[5:20], head[20:], packet}, far},
				{"LOCAL", [][]byte{local, packet}, home},
				{"no header", [][]byte{packet}, "none"},
				{"a header of version 1", [][]byte{[]byte("PROXY UNKNOWN\r\n"), packet}, "none"},
			} {
				if got := send(t, network, at, c.parts...); got != c.want {
					t.Errorf("%s on %s, %s: %s, want %s", network, listen, c.name, got, c.want)
				}
			}
		}
		if got := metric(t, registry, "gslb_dns_proxy_protocol_rejected_total"); got != 4 {
			t.Errorf("%v messages and connections were rejected, want 4", got)
		}
	}
}

// metric returns the value of a metric without labels.
func metric(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.Metric[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// A sender outside the networks cannot name another client.
func TestServer_OnlyProxiesNameTheClient(t *testing.T) {
	packet := query(t, "one.gslb.test.", dns.TypeA)
	for _, proxies := range [][]string{nil, {"192.0.2.0/24"}} {
		at, registry := startProxied(t, "127.0.0.1:0", proxies...)
		if got := send(t, "udp", at, proxyFor(farClient, 2), packet); got != "NOTIMP" {
			t.Errorf("with proxies %v: %s, want the reply to an unknown opcode", proxies, got)
		}
		for _, network := range []string{"udp", "tcp"} {
			if got := send(t, network, at, packet); got != "10.0.0.6" {
				t.Errorf("%s without a header: %s", network, got)
			}
		}
		if got := metric(t, registry, "gslb_dns_proxy_protocol_rejected_total"); got != 0 {
			t.Errorf("%v were rejected", got)
		}
	}
}

// The client can close its direction after the query.
func TestServer_AHalfClosedConnectionOfAProxyIsAnswered(t *testing.T) {
	at, _ := startProxied(t, "127.0.0.1:0", "127.0.0.0/8")
	packet := query(t, "one.gslb.test.", dns.TypeA)
	for range 20 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		data := append(proxyFor(farClient, 1), byte(len(packet)>>8), byte(len(packet)))
		if _, err := conn.Write(append(data, packet...)); err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		reply, err := io.ReadAll(conn)
		if err != nil || len(reply) < headerSize {
			t.Fatalf("%d octets, %v", len(reply), err)
		}
		_ = conn.Close()
	}
}

// Connections of a proxy count for the limit of their client.
func TestConnections_TheLimitIsThatOfTheClientOfAProxy(t *testing.T) {
	c := newConnections(100)
	c.maxOpenPerClient = 2
	proxy := netip.MustParseAddrPort("127.0.0.1:1000")
	add := func(client string) *connection {
		end, other := net.Pipe()
		t.Cleanup(func() { _ = other.Close() })
		one := c.add(end, proxy)
		c.setClient(one, proxyHeader{client: netip.MustParseAddrPort(client)})
		return one
	}
	first := add("192.0.2.1:1")
	for _, client := range []string{"192.0.2.1:2", "192.0.2.2:1", "192.0.2.2:2", "192.0.2.3:1"} {
		add(client)
	}
	if c.countOpen() != 5 || c.evictedClient.Load() != 0 {
		t.Fatalf("%d connections, %d evicted", c.countOpen(), c.evictedClient.Load())
	}
	last := add("192.0.2.1:3")
	if c.countOpen() != 5 || c.evictedClient.Load() != 1 || first.inAll != nil || last.inAll == nil {
		t.Errorf("%d connections, %d evicted", c.countOpen(), c.evictedClient.Load())
	}
	c.setClient(first, proxyHeader{client: farClient}) // closed before its header arrived
	if got := len(c.clients); got != 3 {
		t.Errorf("%d clients, want 3", got)
	}
}

func TestUnwrap_AllocatesNothing(t *testing.T) {
	r := testResponder(placedView(t))
	r.proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")}
	message := append(proxyFor(farClient, 2), query(t, "one.gslb.test.", dns.TypeA)...)
	out, from := make([]byte, 0, udpSize), netip.MustParseAddr("127.0.0.1")
	if n := testing.AllocsPerRun(1000, func() {
		packet, h := r.unwrap(message, from)
		if r.respond(packet, h.client.Addr(), false, out) == nil {
			t.Fatal("no reply")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
