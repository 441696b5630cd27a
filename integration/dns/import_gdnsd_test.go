package dns_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

const gdnsdZone = "d.test."

// gdnsdConfig uses every supported plug-in, over backends of which the third is down.
const gdnsdConfig = `
options => { listen => { %[1]s => { udp_threads = 1, tcp_threads = 1 } }, run_dir = %[2]s/run, state_dir = %[2]s/state }
service_types => {
  web => { plugin => http_status, port => %[3]d, vhost => www.d.test, url_path => /healthy, ok_codes => [ 200, 204 ],
    interval => 2, timeout => 1, up_thresh => 1, down_thresh => 2 }
  slow => { plugin => tcp_connect, port => %[3]d, interval => 10, timeout => 1, down_thresh => 3 }
  tcp = { plugin = tcp_connect port = %[3]d interval = 2 timeout = 1 up_thresh = 1 down_thresh = 2 ok_thresh = 1 }
}
plugins => {
  multifo => {
    $include{more/*.conf}
    checked => { service_types => web, up_thresh => 0.1, a => 127.0.7.1, b => 127.0.7.2, c => 127.0.7.3 }
    calm => { service_types => [ slow, up ], a => 127.0.7.1, b => 127.0.7.2 }
    toofew => { service_types => [ up, web ], up_thresh => 0.7, a => 127.0.7.1, b => 127.0.7.2, c => 127.0.7.3 }
  }
  weighted => {
    w => { a = [ 192.0.2.10, 1000 ], b = [192.0.2.11, 3000], c => [192.0.2.12, 4000] }
    alike => { multi => true, a => [ 192.0.2.13, 5 ], b => [ 192.0.2.14, 5 ] }
  }
  simplefo => { service_types => tcp, s => { primary => 127.0.7.3, secondary => 127.0.7.1 } }
  static => { one => 192.0.2.30, other => Other.example.net. }
  metafo => { service_types => tcp, datacenters => [ p, q ], resources => {
    inh => { dcmap => { p => 127.0.7.3, q => 127.0.7.1 } }
    ign => { ignore_health => true, dcmap => { p => 127.0.7.3, q => 127.0.7.1 } }
    m => { datacenters => [ dead, live ], dcmap => { dead => 127.0.7.3, live => { p => 127.0.7.1, q => 127.0.7.2 } } }
    d => { datacenters => [ x, y ] dcmap => { x => %%multifo!three, y => %%simplefo!s } }
    all => { datacenters => [ p, q ], dcmap => { p => 127.0.7.3, q => 127.0.7.4 } }
  } }
  geoip => {
    maps => { world => { geoip2_db => city.mmdb, datacenters => [ fra, iad, sin ],
      nets => { 10.0.0.0/8 => [ iad, fra, sin ], 10.1.0.0/16 => sin, 2001:db8:1::/48 => iad },
      map => { EU => { default => [ fra, iad, sin ], GB => [ iad, fra, sin ] }, NA => { US => iad, default => sin },
        AS => sin }
    } }
    resources => {
      g => { map => world, dcmap => { fra => { addrs_v4 => { a => 192.0.2.41, b => 192.0.2.42 },
          addrs_v6 => [ 2001:db8::41 ] },
        iad => { addrs_v4 => [ 192.0.2.43 ], addrs_v6 => [ 2001:db8::43 ] },
        sin => { addrs_v4 => [ 192.0.2.44, 192.0.2.45 ], addrs_v6 => [ 2001:db8::44 ] } } }
      failing => { map => world, service_types => tcp,
        dcmap => { fra => 127.0.7.3, iad => 127.0.7.1, sin => 127.0.7.2 } }
    }
  }
}
`

const gdnsdZoneFile = `@ 900 SOA ns1 admin ( 1 2 3 4
 60 )
@ NS ns1
ns1 A 127.0.0.1
three 60 DYNA multifo!three
three 300 MX 10 mail.@Z
both 60/60 DYNA multifo!both ; a comment
checked 60/5 DYNA multifo!checked
calm 60/5 DYNA multifo!calm
toofew 2/2 IN DYNA multifo!toofew
w IN DYNA weighted!w
alike 5M DYNC weighted!alike
s 30 DYNA simplefo!s
one 30 DYNC static!one
other 30/5 DYNC static!other
m 100/10 DYNA metafo!m
d 300 DYNA metafo!d
dy 300 DYNA metafo!d/y
all 300 DYNA metafo!all
inh 300 DYNA metafo!inh
ign 300 DYNA metafo!ign
geo 300 DYNA geoip!g
failing 300 DYNA geoip!failing
*.wild 300 DYNA geoip!g/iad
alias 77 CNAME three
@Z 60 TXT "v=spf1 -all" ; of @F
$ORIGIN sub.@Z
back.@F 60 A 192.0.2.52
www 5 TXT "a @Z b" "DYNA"
www A 192.0.2.50
www A 192.0.2.51
$INCLUDE includes/more.inc inc
`

// loopbacks serve the checks of both programs, on one port of two addresses.
func loopbacks(t *testing.T) uint16 {
	t.Helper()
	for range signed.Tries {
		first, err := net.Listen("tcp", "127.0.7.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).AddrPort().Port()
		second, err := net.Listen("tcp", fmt.Sprintf("127.0.7.2:%d", port))
		if err != nil {
			_ = first.Close()
			continue
		}
		for _, l := range []net.Listener{first, second} {
			s := &httptest.Server{Listener: l, Config: &http.Server{ReadHeaderTimeout: testbed.Patience,
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/healthy" || r.Host != "www.d.test" {
						w.WriteHeader(http.StatusNotFound)
					}
				})}}
			s.Start()
			t.Cleanup(s.Close)
		}
		return port
	}
	t.Fatal("no port is free on both addresses")
	return 0
}

func startGdnsd(t *testing.T, dir string) netip.AddrPort {
	t.Helper()
	program, port := testbed.Judge(t, "gdnsd"), loopbacks(t)
	database := testbed.Read(t, testbed.Databases+"GeoIP2-City-Test.mmdb")
	for _, sub := range []string{"run", "state", "zones/includes", "geoip", "more"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) { testbed.Write(t, filepath.Join(dir, name), 0o600, text) }
	write("geoip/city.mmdb", database)
	write("zones/d.test", gdnsdZoneFile)
	write("zones/includes/more.inc", "i 60 DYNA static!one\n@ 60 TXT included\n")
	write("more/a.conf", `three => { a => 192.0.2.1, b => 192.0.2.2, "c" = 192.0.2.\051 }`)
	write("more/b.conf", "both => { addrs_v4 => [ 192.0.2.4, 192.0.2.5 ], addrs_v6 => { x => 2001:db8::1 } }")
	for range signed.Tries {
		at := signed.FreePort(t)
		write("config", fmt.Sprintf(gdnsdConfig, at, dir, port))
		server, alive := signed.StartServer(t, program, "-c", dir, "start"), false
		testbed.Until(t, testbed.StartBound, "gdnsd", func(ctx context.Context) error {
			select {
			case <-server.Ended:
				return nil
			default:
			}
			_, err := answerTo(ctx, at, question{name: gdnsdZone, rtype: dns.TypeSOA})
			alive = err == nil
			return err
		})
		if alive {
			return at
		}
	}
	t.Fatal("gdnsd does not start")
	return netip.AddrPort{}
}

// question is one, from a client.
type question struct {
	name   string
	rtype  uint16
	client string
	tcp    bool
}

func answerTo(ctx context.Context, at netip.AddrPort, q question) (*dns.Msg, error) {
	m := new(dns.Msg).SetQuestion(q.name, q.rtype)
	m.RecursionDesired = false
	m.SetEdns0(1232, false)
	if q.client != "" {
		a := netip.MustParseAddr(q.client)
		subnet := &dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: 1, SourceNetmask: uint8(a.BitLen()), Address: a.AsSlice()}
		if a.Is6() {
			subnet.Family = 2
		}
		m.IsEdns0().Option = append(m.IsEdns0().Option, subnet)
	}
	client := &dns.Client{Timeout: testbed.Patience}
	if q.tcp {
		client.Net = "tcp"
	}
	reply, _, err := client.ExchangeContext(ctx, m, at.String())
	return reply, err
}

// answered returns an answer in comparable form: it ignores the order, the addresses of w, which rotate, and records
// behind an alias, which gdnsd omits. It ignores the TTL if a backend is down, because gdnsd halves it.
func answered(m *dns.Msg) string {
	lines := []string{dns.RcodeToString[m.Rcode]}
	for _, rr := range m.Answer {
		h := rr.Header()
		name, ttl, data := strings.ToLower(h.Name), fmt.Sprint(h.Ttl), strings.TrimPrefix(rr.String(), h.String())
		if name != strings.ToLower(m.Question[0].Name) {
			continue
		}
		switch first := dns.SplitDomainName(name)[0]; {
		case h.Rrtype == dns.TypeSOA:
			ttl, data = "", ""
		case first == "w" && h.Rrtype == dns.TypeA:
			data = "one of three"
		case slices.Contains([]string{"checked", "toofew", "s", "m", "dy", "all", "inh", "ign", "failing"}, first):
			ttl = ""
		}
		lines = append(lines, strings.ToLower(strings.Join([]string{name, ttl, dns.Type(h.Rrtype).String(), data}, " ")))
	}
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// The configuration that `gslbctl import gdnsd` writes results in the same answers as the real gdnsd: 5 000 queries by
// clients at many locations, over every plug-in, with backends that are down.
func TestImport_AnswersAsGdnsdDoes(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 0)
	dir := filepath.Join(s.Dir, "g")
	theirs := startGdnsd(t, dir)
	testbed.Command(t, testbed.Binaries(t).Control, "import", "gdnsd", filepath.Join(dir, "config"), "--into", s.Dir).
		Want(t, 0, "31 imported, 0 omitted", "NA/US: when iad is down")
	n := s.Nodes[0]
	n.File.Includes = []string{filepath.Join(s.Dir, "gdnsd.yaml")}
	s.StartPrograms(t)

	var names []string
	for _, n := range strings.Fields("three both checked calm other toofew w alike s one m d dy all inh ign geo " +
		"failing wild " +
		"q.wild alias nx sub www.sub inc.sub i.inc.sub back") {
		names = append(names, n+"."+gdnsdZone)
	}
	names = append(names, gdnsdZone, "G.WILD.D.test.")
	clients := append([]string{"", "", "10.0.0.1", "10.1.2.3", "192.0.2.1", "2001:db8:1::1", "2001:db8:2::1"},
		strings.Fields("2.125.160.216 81.2.69.142 216.160.83.56 89.160.20.112 175.16.199.1 2001:218::1 202.196.224.1")...)
	types := []uint16{dns.TypeA, dns.TypeA, dns.TypeA, dns.TypeAAAA, dns.TypeMX, dns.TypeTXT, dns.TypeNS, dns.TypeSOA}
	differs := func(ctx context.Context, q question) error {
		a, err := answerTo(ctx, n.DNS, q)
		if err != nil {
			return err
		}
		b, err := answerTo(ctx, theirs, q)
		if err != nil {
			return err
		}
		if got, want := answered(a), answered(b); got != want {
			return fmt.Errorf("%+v\n%s\nand gdnsd\n%s", q, got, want)
		}
		return nil
	}
	testbed.Until(t, time.Minute, "the checks of both", func(ctx context.Context) error {
		for _, name := range names {
			if err := differs(ctx, question{name: name, rtype: dns.TypeA}); err != nil {
				return err
			}
		}
		return nil
	})
	random := rand.New(rand.NewPCG(7, 9))
	for range 5000 {
		q := question{names[random.IntN(len(names))], types[random.IntN(len(types))], clients[random.IntN(len(clients))],
			random.IntN(8) == 0}
		if err := differs(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	turns(t, n, theirs)
}

// turns compares the frequency of each address of the weighted name.
func turns(t *testing.T, n *harness.Node, theirs netip.AddrPort) {
	t.Helper()
	const asked = 1200
	for _, at := range []netip.AddrPort{n.DNS, theirs} {
		counts := map[string]int{}
		for range asked {
			m, err := answerTo(t.Context(), at, question{name: "w." + gdnsdZone, rtype: dns.TypeA})
			if err != nil || len(m.Answer) != 1 {
				t.Fatalf("%v %v", m, err)
			}
			counts[m.Answer[0].(*dns.A).A.String()]++
		}
		for address, share := range map[string]int{"192.0.2.10": 1, "192.0.2.11": 3, "192.0.2.12": 4} {
			if want := asked * share / 8; counts[address] < want-120 || counts[address] > want+120 { // 7 standard deviations
				t.Errorf("%s: %v", at, counts)
			}
		}
	}
}
