package dnsserver // inside: it uses counts, notAuth and udpSize

import (
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// describeOPT describes the OPT record of a response.
func describeOPT(m *dns.Msg) string {
	if m == nil {
		return "no response"
	}
	opt := m.IsEdns0()
	if opt == nil {
		return "none"
	}
	text := fmt.Sprintf("v%d %d", opt.Version(), opt.UDPSize())
	if opt.Do() {
		text += " do"
	}
	if opt.Hdr.Ttl&0x7FFF != 0 {
		text += " z"
	}
	for _, o := range opt.Option {
		text += fmt.Sprintf(" %d=%s", o.Option(), o)
	}
	return text
}

func TestRespond_EDNS(t *testing.T) {
	const good, bad = "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6", "FORMERR"
	const subnet = "\x00\x01\x18\x00\xc6\x33\x64" // 198.51.100.0/24
	cases := []struct {
		name      string
		change    []func(*dns.Msg)
		want, opt string
	}{
		{"plain", []func(*dns.Msg){edns0(1232)}, good, "v0 1232"},
		{"DO is echoed", []func(*dns.Msg){edns0(1232), doBit}, good, "v0 1232 do"},
		{"Z is cleared", []func(*dns.Msg){edns0(1232), func(m *dns.Msg) { m.IsEdns0().Hdr.Ttl |= 0x80 }}, good, "v0 1232"},
		{"size 0", []func(*dns.Msg){edns0(0)}, good, "v0 1232"},
		{"version 1", []func(*dns.Msg){edns0(1232), func(m *dns.Msg) { m.IsEdns0().SetVersion(1) }}, "BADVERS", "v0 1232"},
		{"version 255 and DO", []func(*dns.Msg){edns0(1232), doBit, func(m *dns.Msg) { m.IsEdns0().SetVersion(255) }},
			"BADVERS", "v0 1232 do"},
		{"version 1 and options", []func(*dns.Msg){edns0(1232, option(65001, "abcd"), option(10, "short")),
			func(m *dns.Msg) { m.IsEdns0().SetVersion(1) }}, "BADVERS", "v0 1232"},
		{"unknown options", []func(*dns.Msg){edns0(1232, option(65001, "abcd"), option(100, ""))}, good, "v0 1232"},
		{"padding is not echoed", []func(*dns.Msg){edns0(1232, option(12, strings.Repeat("\x00", 64)))}, good, "v0 1232"},
		{"keepalive over UDP is ignored", []func(*dns.Msg){edns0(1232, option(11, ""))}, good, "v0 1232"},
		{"NSID", []func(*dns.Msg){edns0(1232, option(3, ""))}, good, "v0 1232 3=" + hex.EncodeToString([]byte("node-1"))},
		{"refused says why", []func(*dns.Msg){edns0(1232), func(m *dns.Msg) { m.Question[0].Name = "www.example.org." }},
			"REFUSED", "v0 1232 15=20 (Not Authoritative): ()"},
		{"down says why", []func(*dns.Msg){edns0(1232), func(m *dns.Msg) { m.Question[0].Name = "down.gslb.test." }},
			"SERVFAIL", "v0 1232 15=22 (No Reachable Authority): ()"},
		{"transfers say why", []func(*dns.Msg){edns0(1232), func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR }},
			"REFUSED", "v0 1232 15=18 (Prohibited): ()"},

		{"several at once", []func(*dns.Msg){edns0(1232, option(3, ""), option(8, "\x00\x01\x00\x00"), option(9, ""))}, good,
			"v0 1232 3=" + hex.EncodeToString([]byte("node-1")) + " 8=0.0.0.0/0/0"},
		{"version 1 and Z", []func(*dns.Msg){edns0(1232),
			func(m *dns.Msg) { m.IsEdns0().Hdr.Ttl |= 0x80; m.IsEdns0().SetVersion(1) }}, "BADVERS", "v0 1232"},
		{"a name that is not there, with subnet", []func(*dns.Msg){edns0(1232, option(8, subnet)),
			func(m *dns.Msg) { m.Question[0].Name = "nx.gslb.test." }}, "NXDOMAIN aa" + soaLine, "v0 1232 8=198.51.100.0/24/0"},
		{"NOTIFY", []func(*dns.Msg){edns0(1232, option(3, "")), opcode(dns.OpcodeNotify)}, "NOTIMP",
			"v0 1232 3=" + hex.EncodeToString([]byte("node-1"))},
		{"UPDATE and DO", []func(*dns.Msg){edns0(1232), doBit, opcode(dns.OpcodeUpdate)}, "NOTIMP", "v0 1232 do"},
		{"STATUS and version 1", []func(*dns.Msg){edns0(1232), opcode(dns.OpcodeStatus),
			func(m *dns.Msg) { m.IsEdns0().SetVersion(1) }}, "BADVERS", "v0 1232"},
		{"NOTIFY without", []func(*dns.Msg){opcode(dns.OpcodeNotify)}, "NOTIMP", "none"},
		{"signed", []func(*dns.Msg){edns0(1232), doBit, signed}, "NOTAUTH", "v0 1232 do"},
		{"signed, version 1", []func(*dns.Msg){edns0(1232), signed, func(m *dns.Msg) { m.IsEdns0().SetVersion(1) }},
			"BADVERS", "v0 1232"},
		{"signed, before OPT", []func(*dns.Msg){signed, edns0(1232)}, bad, "none"},
		{"subnet", []func(*dns.Msg){edns0(1232, option(8, subnet))}, good, "v0 1232 8=198.51.100.0/24/0"},
		{"subnet of IPv6", []func(*dns.Msg){edns0(1232, option(8, "\x00\x02\x30\x00\x20\x01\x0d\xb8\x00\x01"))}, good,
			"v0 1232 8=[2001:db8:1::]/48/0"},
		{"subnet of source 0", []func(*dns.Msg){edns0(1232, option(8, "\x00\x01\x00\x00"))}, good, "v0 1232 8=0.0.0.0/0/0"},
		{"subnet with scope", []func(*dns.Msg){edns0(1232, option(8, "\x00\x01\x18\x18\xc6\x33\x64"))}, bad, "v0 1232"},
		{"subnet of source 33", []func(*dns.Msg){edns0(1232, option(8, "\x00\x01\x21\x00\xc6\x33\x64\x01\x80"))}, bad,
			"v0 1232"},
		{"subnet too long", []func(*dns.Msg){edns0(1232, option(8, subnet+"\x00"))}, bad, "v0 1232"},
		{"subnet too short", []func(*dns.Msg){edns0(1232, option(8, subnet[:6]))}, bad, "v0 1232"},
		{"subnet with bits beyond", []func(*dns.Msg){edns0(1232, option(8, "\x00\x01\x14\x00\xc6\x33\x6f"))}, bad, "v0 1232"},
		{"subnet cut off", []func(*dns.Msg){edns0(1232, option(8, "\x00\x01"))}, bad, "v0 1232"},
		{"subnet of unknown family", []func(*dns.Msg){edns0(1232, option(8, "\x00\x09\x08\x00\x01"))}, bad, "v0 1232"},

		{"cookie of 1", []func(*dns.Msg){edns0(1232, option(10, "x"))}, bad, "v0 1232"},
		{"cookie of 7", []func(*dns.Msg){edns0(1232, option(10, "xxxxxxx"))}, bad, "v0 1232"},
		{"cookie of 9", []func(*dns.Msg){edns0(1232, option(10, "xxxxxxxxx"))}, bad, "v0 1232"},
		{"cookie of 15", []func(*dns.Msg){edns0(1232, option(10, strings.Repeat("x", 15)))}, bad, "v0 1232"},
		{"cookie of 41", []func(*dns.Msg){edns0(1232, option(10, strings.Repeat("x", 41)))}, bad, "v0 1232"},
	}
	r := testResponder(testView(t))
	for _, c := range cases {
		m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA, c.change...))
		if describe(m) != c.want || describeOPT(m) != c.opt {
			t.Errorf("%s:\n got %s, OPT %s\nwant %s, OPT %s", c.name, describe(m), describeOPT(m), c.want, c.opt)
		}
	}
}

func opcode(n int) func(*dns.Msg) { return func(m *dns.Msg) { m.Opcode = n } }

// signed adds the TSIG record of a key that the server does not know.
func signed(m *dns.Msg) {
	m.Extra = append(m.Extra, &dns.TSIG{
		Hdr:       dns.RR_Header{Name: "Key.example.", Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: dns.HmacSHA256, TimeSigned: 1_700_000_000, Fudge: 300, MACSize: 2, MAC: "abcd", OrigId: 7,
	})
}

// A query with an unknown key receives the error for an unknown key (RFC 8945 sections 5.2.1 and 5.3.2), and never an
// answer without it.
func TestRespond_AKeyIsNotKnown(t *testing.T) {
	change := func(f func(*dns.TSIG)) func(*dns.Msg) {
		return func(m *dns.Msg) { f(m.Extra[len(m.Extra)-1].(*dns.TSIG)) }
	}
	long := strings.Repeat(strings.Repeat("k", 61)+".", 4)
	const told = "Key.example. 0 hmac-sha256. 1700000000 300 0  7 17 0 "
	for _, c := range []struct {
		name       string
		change     []func(*dns.Msg)
		want, tsig string
	}{
		{"alone", []func(*dns.Msg){signed}, "NOTAUTH", told},
		{"with EDNS", []func(*dns.Msg){edns0(512), signed}, "NOTAUTH", told},
		{"for a name that is not ours", []func(*dns.Msg){signed,
			func(m *dns.Msg) { m.Question[0].Name = "www.example.org." }}, "NOTAUTH", told},
		{"for a transfer", []func(*dns.Msg){signed, func(m *dns.Msg) { m.Question[0].Qtype = dns.TypeAXFR }}, "NOTAUTH",
			told},
		{"with names that leave no room", []func(*dns.Msg){signed,
			change(func(k *dns.TSIG) { k.Hdr.Name, k.Algorithm = long, long })}, "NOTAUTH", ""},
		{"twice", []func(*dns.Msg){signed, signed}, "FORMERR", ""},
		{"as an answer", []func(*dns.Msg){signed, func(m *dns.Msg) { m.Answer, m.Extra = m.Extra, nil }}, "FORMERR", ""},
		{"of class IN", []func(*dns.Msg){signed, change(func(k *dns.TSIG) { k.Hdr.Class = dns.ClassINET })}, "FORMERR", ""},
		{"with a TTL", []func(*dns.Msg){signed, change(func(k *dns.TSIG) { k.Hdr.Ttl = 1 })}, "FORMERR", ""},
	} {
		r := testResponder(testView(t))
		packet := query(t, "one.gslb.test.", dns.TypeA, c.change...)
		m := askUDP(t, r, packet)
		got := ""
		if k := m.IsTsig(); k != nil {
			got = fmt.Sprintf("%s %d %s %d %d %d %s %d %d %d %s", k.Hdr.Name, k.Hdr.Ttl, k.Algorithm, k.TimeSigned, k.Fudge,
				k.MACSize, k.MAC, k.OrigId, k.Error, k.OtherLen, k.OtherData)
		}
		if describe(m) != c.want || got != c.tsig || c.want == "NOTAUTH" && r.counts.queries[notAuth].Load() != 1 {
			t.Errorf("%s: %s, TSIG %q, want %s, %q", c.name, describe(m), got, c.want, c.tsig)
		}
		packet[len(packet)-1]++ // claims other data that is not there
		if m := askUDP(t, r, packet); describe(m) != "FORMERR" {
			t.Errorf("%s, cut off: %s", c.name, describe(m))
		}
	}
}

func TestRespond_CookieForWhoeverBringsOne(t *testing.T) {
	r := testResponder(testView(t))
	for name, cookie := range map[string]string{"client's alone": "ABCDEFGH",
		"with a server's": "ABCDEFGH" + strings.Repeat("\x11", 16)} {
		m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(10, cookie))))
		got := m.IsEdns0().Option[0].(*dns.EDNS0_COOKIE).Cookie
		if len(got) != 48 || !strings.HasPrefix(got, hex.EncodeToString([]byte("ABCDEFGH"))+"01000000") {
			t.Errorf("%s: cookie %s, want the client's and 16 octets of version 1", name, got)
		}
	}
	only := query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(10, "ABCDEFGH")),
		func(m *dns.Msg) { m.Question = nil })
	if m := askUDP(t, r, only); describe(m) != "NOERROR" || len(m.IsEdns0().Option) != 1 {
		t.Errorf("no question but a cookie: %s, OPT %s", describe(m), describeOPT(m))
	}
}

func TestRespond_WithoutSubnetsTheOptionIsIgnored(t *testing.T) {
	r := testResponder(testView(t))
	r.clientSubnet = false
	for _, subnet := range []string{"\x00\x01\x18\x00\xc6\x33\x64", "broken"} {
		m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(8, subnet))))
		if m.Rcode != dns.RcodeSuccess || describeOPT(m) != "v0 1232" {
			t.Errorf("%s, OPT %s", describe(m), describeOPT(m))
		}
	}
}

func TestRespond_KeepaliveOverTCP(t *testing.T) {
	m := askTCP(t, testResponder(testView(t)), query(t, "one.gslb.test.", dns.TypeA, edns0(1232, option(11, ""))))
	if len(m.IsEdns0().Option) != 1 || m.IsEdns0().Option[0].(*dns.EDNS0_TCP_KEEPALIVE).Timeout != 100 {
		t.Errorf("OPT %s, want 10 s", describeOPT(m))
	}
}

func TestRespond_EDNSOverTCPAndNoneWithout(t *testing.T) {
	r := testResponder(testView(t))
	if m := askTCP(t, r, query(t, "one.gslb.test.", dns.TypeA, edns0(1232), doBit)); describeOPT(m) != "v0 1232 do" ||
		len(m.Answer) != 1 {
		t.Errorf("%s, OPT %s", describe(m), describeOPT(m))
	}
	if m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA)); m.IsEdns0() != nil {
		t.Errorf("an OPT for who sent none: %s", describeOPT(m))
	}
}

// A query that is padded to the size of a datagram has octets after its end. The server continues to answer.
func TestRespond_ADatagramOf64KiB(t *testing.T) {
	s, _, _ := startServer(t, "127.0.0.1:0")
	at := s.Addrs()[0].String()
	conn, err := net.Dial("udp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(append(query(t, "one.gslb.test.", dns.TypeA), make([]byte, 60000)...)); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, udpSize)
	n, err := conn.Read(reply)
	if err != nil {
		t.Fatal(err)
	}
	if m := read(t, reply[:n]); m.Rcode != dns.RcodeFormatError {
		t.Errorf("%s", describe(m))
	}
	exchange(t, "udp", at, "one.gslb.test.")
}

func TestRespond_Sizes(t *testing.T) {
	r := testResponder(testView(t))
	for _, name := range []string{"big.gslb.test.", "app.gslb.test.", "gslb.test.", "nx.gslb.test."} {
		for size, limit := range map[uint16]int{0: 512, 100: 512, 512: 512, 1232: 1232, 4096: 1232, 65535: 1232} {
			reply := r.respond(query(t, name, dns.TypeA, edns0(size), doBit), testClient, false, make([]byte, 0, udpSize))
			m := read(t, reply)
			if len(reply) > limit || m.IsEdns0() == nil || m.Truncated != (name == "big.gslb.test.") ||
				m.Truncated && len(m.Answer) > 0 {
				t.Errorf("%s for %d: %d octets, %s, OPT %s", name, size, len(reply), describe(m), describeOPT(m))
			}
		}
	}
	if m := askUDP(t, r, query(t, "big.gslb.test.", dns.TypeA)); describe(m) != "NOERROR aa tc" || m.IsEdns0() != nil {
		t.Errorf("without EDNS: %s", describe(m))
	}
	if m := askTCP(t, r, query(t, "big.gslb.test.", dns.TypeA)); m.Truncated || len(m.Answer) != 100 {
		t.Errorf("over TCP: %d records, truncated %v", len(m.Answer), m.Truncated)
	}
}

// The size of answers over UDP is limited by the current maximum and by the client's maximum.
func TestSetMaxUDPSize_BoundsTheNextAnswer(t *testing.T) {
	s, _, _ := startServer(t, "127.0.0.1:0")
	client := &dns.Client{Net: "udp", UDPSize: maxUDPSize, Timeout: time.Minute}
	for _, c := range []struct {
		set       int
		takes     uint16
		truncated bool
	}{{1232, 4096, true}, {4096, 4096, false}, {4096, 1232, true}, {1 << 20, 4096, false}, {0, 4096, true}} {
		s.SetMaxUDPSize(c.set)
		m := new(dns.Msg)
		m.SetQuestion("big.gslb.test.", dns.TypeA)
		m.SetEdns0(c.takes, false)
		reply, _, err := client.Exchange(m, s.Addrs()[0].String())
		if err != nil || reply.Truncated != c.truncated || !c.truncated && len(reply.Answer) != 100 {
			t.Errorf("%d set, a client that takes %d: %v, %v", c.set, c.takes, err, reply)
		}
		if size := reply.IsEdns0().UDPSize(); size != udpSize {
			t.Errorf("queries of %d octets are asked for, want %d", size, udpSize)
		}
	}
}
