package dns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// proxySource is the address from which dnsdist queries the node. Other clients of the node need no header.
const proxySource = "127.9.9.9"

// startDnsdist starts a dnsdist in front of a node, which sends the addresses of its clients.
func startDnsdist(t *testing.T, n *harness.Node, dir string) netip.AddrPort {
	t.Helper()
	program, conf := testbed.Judge(t, "dnsdist"), filepath.Join(dir, "dnsdist.conf")
	for range signed.Tries {
		at := signed.FreePort(t)
		testbed.Write(t, conf, 0o600, fmt.Sprintf(`
setLocal(%q)
setACL("127.0.0.0/8")
newServer({address=%q, source=%q, useProxyProtocol=true, checkName="%s.", maxCheckFailures=1})
`, at, n.DNS, proxySource, testbed.AppName))
		running := signed.StartServer(t, program, "--supervised", "--disable-syslog", "-C", conf)
		alive := false
		testbed.Until(t, testbed.StartBound, "dnsdist", func(ctx context.Context) error {
			select {
			case <-running.Ended:
				return nil
			default:
			}
			q := new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA)
			r, _, err := (&dns.Client{Timeout: testbed.Patience}).ExchangeContext(ctx, q, at.String())
			if err != nil {
				return err
			}
			if len(r.Answer) != 1 {
				return fmt.Errorf("no answer: %v", r)
			}
			alive = true
			return nil
		})
		if alive {
			return at
		}
	}
	t.Fatal("dnsdist does not start")
	return netip.AddrPort{}
}

// Through a real dnsdist, the node sees the addresses of clients: in explanations, which only one network can query,
// and in the query log. Messages of dnsdist's address without a header are dropped.
func TestProxy_Dnsdist(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, 1)
	n, log := s.Nodes[0], filepath.Join(t.TempDir(), "queries.json")
	proxies := []netip.Prefix{netip.MustParsePrefix(proxySource + "/32")}
	n.File.DNS.ProxyProtocol = &harness.ProxyProtocol{Networks: proxies}
	n.File.DNS.QueryLog = &harness.QueryLog{File: log, Types: []string{"TXT"}}
	n.File.Routing = &harness.Routing{WhyNetworks: []netip.Prefix{netip.MustParsePrefix("127.7.7.0/24")}}
	s.StartAll(t)
	at := startDnsdist(t, n, t.TempDir())
	clientsOf := map[string][2]string{"udp": {"127.7.7.1", "127.8.1.1"}, "tcp": {"127.7.7.2", "127.8.2.1"}}
	for network, clients := range clientsOf {
		r := exchangeAs(t, network, at, clients[0])
		if len(r.Answer) == 0 || !strings.Contains(r.Answer[0].String(), "client "+clients[0]+" ") {
			t.Errorf("%s: the node does not explain the answer of %s: %v", network, clients[0], r)
		}
		if r = exchangeAs(t, network, at, clients[1]); r.Rcode != dns.RcodeNameError {
			t.Errorf("%s: %s can query explanations: %v", network, clients[1], r)
		}
	}
	testbed.Until(t, testbed.Patience, "the query log", func(context.Context) error {
		return hasClients(t, log, "127.7.7.0", "127.8.1.0", "127.8.2.0")
	})
	if got := testbed.Metric(t, n, "gslb_dns_proxy_protocol_rejected_total"); got != 0 {
		t.Errorf("%v messages of dnsdist were rejected", got)
	}
	conn, err := dialAs("udp", proxySource).Dial("udp", n.DNS.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	q := new(dns.Msg).SetQuestion(testbed.AppName+".", dns.TypeA)
	if err := (&dns.Conn{Conn: conn}).WriteMsg(q); err != nil {
		t.Fatal(err)
	}
	testbed.Until(t, testbed.Patience, "the rejected message", func(context.Context) error {
		if got := testbed.Metric(t, n, "gslb_dns_proxy_protocol_rejected_total"); got != 1 {
			return fmt.Errorf("%v messages were rejected", got)
		}
		return nil
	})
}

// exchangeAs queries the explanation of the load-balanced name from an address.
func exchangeAs(t *testing.T, network string, at netip.AddrPort, from string) *dns.Msg {
	t.Helper()
	q := new(dns.Msg).SetQuestion("_why."+testbed.AppName+".", dns.TypeTXT)
	client := &dns.Client{Net: network, Timeout: testbed.Patience, Dialer: dialAs(network, from)}
	r, _, err := client.ExchangeContext(t.Context(), q, at.String())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dialAs returns a dialer with a source address.
func dialAs(network, from string) *net.Dialer {
	if network == "tcp" {
		return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	}
	return &net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(from)}}
}

// hasClients returns an error if the lines of a query log have other client networks.
func hasClients(t *testing.T, path string, want ...string) error {
	t.Helper()
	got := map[string]bool{}
	for line := range strings.Lines(testbed.Read(t, path)) {
		var one struct{ Client string }
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		got[strings.TrimSuffix(one.Client, "/24")] = true
	}
	for _, client := range want {
		if !got[client] {
			return fmt.Errorf("no line of %s: %v", client, got)
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("clients %v, want %v", got, want)
	}
	return nil
}
