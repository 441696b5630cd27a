package network_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/network"
	"gslb.internal/integration/harness/testbed"
)

// exchangeFrom sends a query on a connection of dial. A UDP connection accepts only answers from the queried address.
func exchangeFrom(dial func(ctx context.Context, network, at string) (net.Conn, error), q *dns.Msg, protocol string,
	to netip.AddrPort) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), testbed.Patience)
	defer cancel()
	conn, err := dial(ctx, protocol, to.String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	client := &dns.Client{Net: protocol, Timeout: testbed.Patience, UDPSize: dns.MaxMsgSize}
	r, _, err := client.ExchangeWithConnContext(ctx, q, &dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize})
	return r, err
}

// question returns a query for a type of appName.
func question(kind uint16) *dns.Msg { return new(dns.Msg).SetQuestion(dns.Fqdn(testbed.AppName), kind) }

// unwatched returns a node without checks at the first host of a site, with servers of appName at these addresses.
func (s *site) unwatched(t *testing.T, at *network.Site, h network.Host, name string,
	servers ...netip.Addr) *harness.Node {
	t.Helper()
	n := s.NodeAt(t, at, h, name, "eu")
	n.File.Overwatch.Validation.Enabled = false
	for _, a := range servers {
		n.File.Regions[0].Servers = append(n.File.Regions[0].Servers,
			harness.Server{Service: testbed.AppName, Address: a, Port: testbed.AppPort, Weight: 100,
				HealthCheck: s.Timing.Check()})
	}
	return n
}

// On a machine with many addresses, a node with the default configuration answers from the queried address: of both
// families, link-local addresses, and an address that the machine received while the node was running. A client may
// query several addresses from one port at the same time.
func TestNetwork_AnswersComeFromTheAddressThatWasAsked(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newNetworkSite(t, []string{"eu"})
		home, away := testbed.AddSite(t, n, "home", 0), testbed.AddSite(t, n, "away", 0)
		client := testbed.AddHost(t, away)
		hosts := []network.Host{testbed.AddHost(t, home), testbed.AddHost(t, home), testbed.AddHost(t, home)}
		node := s.unwatched(t, home, hosts[0], "ow", netip.MustParseAddr("192.0.2.1"))
		s.StartPrograms(t)
		hosts = append(hosts, testbed.AddHost(t, home)) // while the node runs

		good := func(what string, r *dns.Msg, err error) {
			t.Helper()
			if err != nil || r.Rcode != dns.RcodeSuccess || len(r.Answer) != 1 {
				t.Errorf("%s: %v, %v", what, err, r)
			}
		}
		var all []netip.AddrPort
		for _, h := range hosts {
			for _, at := range []netip.Addr{h.IPv4, h.IPv6} {
				all = append(all, netip.AddrPortFrom(at, testbed.DNSPort))
				for _, protocol := range []string{"udp", "tcp"} {
					r, err := exchangeFrom(away.Dial, question(dns.TypeA), protocol, all[len(all)-1])
					good(fmt.Sprintf("%s over %s", at, protocol), r, err)
				}
			}
			// A neighbor on the same link, by a link-local address.
			at := netip.AddrPortFrom(h.Link.WithZone(home.Name), testbed.DNSPort)
			for _, protocol := range []string{"udp", "tcp"} {
				r, err := exchangeFrom(n.Dial, question(dns.TypeA), protocol, at)
				good(fmt.Sprintf("%s over %s", at, protocol), r, err)
			}
		}
		for _, from := range []netip.Addr{client.IPv4, client.IPv6} {
			askAtOnce(t, away, from, all)
		}
		if got := testbed.MetricBy(t, browser(home, netip.Addr{}), node.Prom, "gslb_dns_udp_unsent_total"); got != 0 {
			t.Errorf("%v responses could not be sent", got)
		}
	})
}

// askAtOnce repeatedly queries all servers of a family from one port without waiting, and requires each answer to come
// from the queried address.
func askAtOnce(t *testing.T, at *network.Site, from netip.Addr, servers []netip.AddrPort) {
	t.Helper()
	var conn *net.UDPConn
	err := at.Inside(func() (err error) {
		conn, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(from, 0)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const each = 32
	asked := map[uint16]netip.AddrPort{}
	for i := range each * len(servers) {
		to := servers[i%len(servers)]
		if to.Addr().Is4() != from.Is4() {
			continue
		}
		q := question(dns.TypeA)
		q.Id = uint16(i)
		packet, err := q.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.WriteToUDPAddrPort(packet, to); err != nil {
			t.Fatal(err)
		}
		asked[q.Id] = to
	}
	_ = conn.SetReadDeadline(time.Now().Add(testbed.Patience))
	buf := make([]byte, 1500)
	for len(asked) > 0 {
		size, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			t.Errorf("%d answers are missing: %v", len(asked), err)
			return
		}
		var r dns.Msg
		if err := r.Unpack(buf[:size]); err != nil {
			t.Fatal(err)
		}
		if asked[r.Id] != from || len(r.Answer) != 1 {
			t.Errorf("asked %s, answered by %s: %v", asked[r.Id], from, &r)
		}
		delete(asked, r.Id)
	}
}

// On a path for 1280 octets without fragmentation, every answer arrives: over UDP complete or truncated, with at most
// 1232 octets regardless of the client's limit, and complete over TCP.
func TestNetwork_LargeAnswersOnANarrowWay(t *testing.T) {
	testbed.OnNetwork(t, func(t *testing.T, n *network.Network) {
		s := newNetworkSite(t, []string{"eu"})
		home, away := testbed.AddSite(t, n, "home", 0), testbed.AddSite(t, n, "away", 0)
		testbed.AddHost(t, away)
		h := testbed.AddHost(t, home)
		const many = 45
		var servers []netip.Addr
		for i := range many {
			servers = append(servers, netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}),
				netip.AddrFrom16([16]byte{0: 0x20, 1: 1, 2: 0xd, 3: 0xb8, 15: byte(i + 1)}))
		}
		node := s.unwatched(t, home, h, "ow", servers...)
		node.File.Domains[0].MaxAnswers = many
		s.StartPrograms(t)
		if err := away.MTU(1280); err != nil {
			t.Fatal(err)
		}
		rules(t, n, s, "ip frag-off & 0x3fff != 0 drop", "exthdr frag exists drop")

		whole, truncated := 0, 0
		for _, at := range []netip.Addr{h.IPv4, h.IPv6} {
			to := netip.AddrPortFrom(at, testbed.DNSPort)
			for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
				for _, allowed := range []uint16{0, 512, 1232, 1400, 4096, 65535} {
					q := question(kind)
					limit := max(512, min(1232, int(allowed)))
					if allowed > 0 {
						q.SetEdns0(allowed, true)
					}
					what := fmt.Sprintf("%s from %s, who has room for %d", dns.TypeToString[kind], at, allowed)
					r, err := exchangeFrom(away.Dial, q, "udp", to)
					switch {
					case err != nil:
						t.Errorf("%s: %v", what, err)
						continue
					case compressed(r).Len() > limit:
						t.Errorf("%s: %d octets", what, r.Len())
					case r.Truncated:
						truncated++
					case len(r.Answer) < many:
						t.Errorf("%s: %d records and not truncated", what, len(r.Answer))
					default:
						whole++
					}
					if r, err = exchangeFrom(away.Dial, q, "tcp", to); err != nil || r.Truncated || len(r.Answer) < many {
						t.Errorf("%s, over TCP: %v, %v", what, err, r)
					}
				}
			}
		}
		if whole == 0 || truncated == 0 {
			t.Errorf("%d whole answers and %d truncated ones over UDP: the test does not test both", whole, truncated)
		}
	})
}

// compressed returns the message with compressed names, as on the wire.
func compressed(m *dns.Msg) *dns.Msg {
	m.Compress = true
	return m
}
