package chain // inside: it uses payload, record and view

import (
	"context"
	"crypto"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const zone = "gslb.test."

var now = time.Now().Truncate(time.Second)

// key is a signing key of a test's zone.
type key struct {
	*dns.DNSKEY
	private crypto.Signer
}

func newKey(t testing.TB) key {
	t.Helper()
	k := &dns.DNSKEY{Hdr: dns.RR_Header{Name: zone, Rrtype: dns.TypeDNSKEY, Class: dns.ClassINET, Ttl: 3600}, Flags: 257,
		Protocol: 3, Algorithm: dns.ECDSAP256SHA256}
	private, err := k.Generate(256)
	if err != nil {
		t.Fatal(err)
	}
	return key{k, private.(crypto.Signer)}
}

func (k key) ds() *dns.DS { return k.ToDS(dns.SHA256) }

// server is a server of the zone: it publishes keys and signs with signers.
type server struct {
	t        testing.TB
	at       string
	keys     []key
	signers  []key
	expires  time.Time
	spoil    func(*dns.Msg) // before it is sent
	truncate bool           // over UDP
}

func start(t testing.TB, s *server) *server {
	t.Helper()
	packets, streams := listen(t)
	s.t, s.at = t, packets.LocalAddr().String()
	if s.expires.IsZero() {
		s.expires = now.Add(24 * time.Hour)
	}
	for _, d := range []*dns.Server{{PacketConn: packets, Handler: s}, {Listener: streams, Handler: s}} {
		ready := make(chan struct{})
		d.NotifyStartedFunc = func() { close(ready) }
		go func() { _ = d.ActivateAndServe() }()
		<-ready
		t.Cleanup(func() { _ = d.Shutdown() })
	}
	return s
}

// listen opens a port for UDP and TCP. It tries several ports, because a port may be free for only one of them.
func listen(t testing.TB) (packets net.PacketConn, streams net.Listener) {
	t.Helper()
	var err error
	for range 100 {
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if streams, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, streams
		}
		packets.Close()
	}
	t.Fatal(err)
	return nil, nil
}

func (s *server) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg).SetReply(q)
	_, udp := w.RemoteAddr().(*net.UDPAddr)
	header := dns.RR_Header{Name: q.Question[0].Name, Rrtype: q.Question[0].Qtype, Class: dns.ClassINET, Ttl: 30}
	switch q.Question[0].Qtype {
	case dns.TypeDNSKEY:
		for _, k := range s.keys {
			m.Answer = append(m.Answer, k.DNSKEY)
		}
	case dns.TypeSOA:
		m.Answer = append(m.Answer, &dns.SOA{Hdr: header, Ns: "ns." + zone, Mbox: "admin." + zone})
	case dns.TypeA:
		m.Answer = append(m.Answer, &dns.A{Hdr: header, A: net.IPv4(192, 0, 2, 1)})
	case dns.TypeDS:
		for _, k := range s.keys {
			m.Answer = append(m.Answer, k.ds())
		}
	default:
		header.Name, header.Rrtype = zone, dns.TypeSOA
		m.Ns = append(m.Ns, &dns.SOA{Hdr: header, Ns: "ns." + zone, Mbox: "admin." + zone})
	}
	m.Answer, m.Ns = s.sign(m.Answer), s.sign(m.Ns)
	if s.spoil != nil {
		s.spoil(m)
	}
	if s.truncate && udp {
		m.Truncated, m.Answer = true, nil
	}
	_ = w.WriteMsg(m)
}

func (s *server) sign(section []dns.RR) []dns.RR {
	if len(section) == 0 {
		return nil
	}
	signed := section
	for _, k := range s.signers {
		sig := &dns.RRSIG{Algorithm: k.Algorithm, KeyTag: k.KeyTag(), SignerName: zone,
			Inception: uint32(now.Add(-48 * time.Hour).Unix()), Expiration: uint32(s.expires.Unix())}
		if err := sig.Sign(k.private, section); err != nil {
			s.t.Error(err)
		}
		signed = append(signed, sig)
	}
	return signed
}

func check(t *testing.T, ds []*dns.DS, servers ...*server) []Finding {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	q := Question{Zone: "GSLB.test", DS: ds, Names: []string{"app.gslb.test"}, Now: now}
	for _, s := range servers {
		q.Servers = append(q.Servers, s.at)
	}
	return Check(ctx, q)
}

func TestCheck_SaysWhatAValidatorWouldAndWhyNot(t *testing.T) {
	a, b := newKey(t), newKey(t)
	of := func(keys ...key) []*dns.DS {
		var list []*dns.DS
		for _, k := range keys {
			list = append(list, k.ds())
		}
		return list
	}
	changed := func(k key, change func(*dns.DS)) []*dns.DS {
		ds := k.ds()
		change(ds)
		return []*dns.DS{ds}
	}
	drop := func(rtype uint16) func(*dns.Msg) {
		return func(m *dns.Msg) {
			if len(m.Answer) > 0 && m.Answer[0].Header().Rrtype == rtype {
				m.Answer = m.Answer[:1]
			}
		}
	}
	for name, c := range map[string]struct {
		server  server
		ds      []*dns.DS
		verdict Verdict
		reason  string
	}{
		"as it should be": {server{keys: []key{a}, signers: []key{a}}, of(a), Secure,
			"the signatures of 3 answers hold until"},
		"over TCP": {server{keys: []key{a}, signers: []key{a}, truncate: true}, of(a), Secure, ""},
		"two keys, one DS": {server{keys: []key{a, b}, signers: []key{a, b}}, of(b), Secure,
			fmt.Sprintf("DS %d", b.KeyTag())},
		"two DS, one key": {server{keys: []key{a}, signers: []key{a}}, of(b, a), Secure, ""},
		"no DS": {server{keys: []key{a}, signers: []key{a}}, nil, Insecure,
			fmt.Sprintf("add \"gslb.test. IN DS %d 13 2 ", a.KeyTag())},
		"no DS and no key": {server{}, nil, Insecure, "not signed"},
		"the DS of another key": {server{keys: []key{a}, signers: []key{a}}, of(b), Bogus,
			fmt.Sprintf("DS %d (algorithm 13, digest type 2) matches none of the keys %d: publish", b.KeyTag(), a.KeyTag())},
		"a DS of another algorithm": {server{keys: []key{a}, signers: []key{a}},
			changed(a, func(ds *dns.DS) { ds.Algorithm = dns.RSASHA256 }), Bogus,
			fmt.Sprintf("since it is of algorithm 8 and key %d of 13", a.KeyTag())},
		"a DS with a wrong digest": {server{keys: []key{a}, signers: []key{a}},
			changed(a, func(ds *dns.DS) { ds.Digest = strings.Repeat("ab", 32) }), Bogus,
			fmt.Sprintf("since the digest of key %d differs", a.KeyTag())},
		"a DS that nobody can use": {server{keys: []key{a}, signers: []key{a}},
			changed(a, func(ds *dns.DS) { ds.DigestType = 99 }), Insecure, "resolvers do not validate with"},
		"one that can be used as well": {server{keys: []key{a}, signers: []key{a}},
			append(changed(a, func(ds *dns.DS) { ds.Algorithm = 200 }), a.ds()), Secure, ""},
		"not its zone": {server{spoil: func(m *dns.Msg) { m.Rcode, m.Ns = dns.RcodeRefused, nil }}, of(a),
			Unanswered, "REFUSED for the DNSKEY records: it does not serve the zone"},
		"no zone but a name": {server{spoil: func(m *dns.Msg) {
			m.Ns = []dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: "Test.", Rrtype: dns.TypeSOA, Class: dns.ClassINET},
				Ns: "ns.test.", Mbox: "x.test."}}
		}}, nil, Unanswered, "no zone but a name in test.: check that"},
		"a DS and no key": {server{}, of(a), Bogus, "without a DNSKEY record"},
		"keys not signed by its DS": {server{keys: []key{a, b}, signers: []key{b}}, of(a), Bogus,
			"the DNSKEY records: signed with key"},
		"unsigned": {server{keys: []key{a}}, of(a), Bogus, "the DNSKEY records: no signature"},
		"expired": {server{keys: []key{a}, signers: []key{a}, expires: now.Add(-time.Hour)}, of(a), Bogus,
			"holds from"},
		"an answer without its signature": {server{keys: []key{a}, signers: []key{a}, spoil: drop(dns.TypeA)}, of(a), Bogus,
			"app.gslb.test. A: the A of app.gslb.test.: no signature"},
		"a changed answer": {server{keys: []key{a}, signers: []key{a}, spoil: func(m *dns.Msg) {
			if soa, ok := append(m.Answer, m.Ns...)[0].(*dns.SOA); ok {
				soa.Serial++
			}
		}}, of(a), Bogus, fmt.Sprintf("SOA: the SOA of gslb.test.: the signature of key %d is wrong", a.KeyTag())},
		"a server that fails": {server{keys: []key{a}, signers: []key{a}, spoil: func(m *dns.Msg) {
			if m.Question[0].Qtype == dns.TypeAAAA {
				m.Rcode, m.Ns = dns.RcodeServerFailure, nil
			}
		}}, of(a), Bogus, "app.gslb.test. AAAA: the server answers SERVFAIL"},
		"a name without a backend": {server{keys: []key{a}, signers: []key{a}, spoil: func(m *dns.Msg) {
			if m.Question[0].Qtype == dns.TypeA {
				m.Rcode, m.Answer = dns.RcodeServerFailure, nil
				m.SetEdns0(payload, true)
				m.IsEdns0().Option = append(m.IsEdns0().Option, &dns.EDNS0_EDE{InfoCode: dns.ExtendedErrorCodeNoReachableAuthority})
			}
		}}, of(a), Secure, "the signatures of 2 answers"},
		"an empty answer": {server{keys: []key{a}, signers: []key{a}, spoil: func(m *dns.Msg) { m.Ns = nil }}, of(a), Bogus,
			"the answer is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			f := check(t, c.ds, start(t, &c.server))[0]
			if f.Verdict != c.verdict || !strings.Contains(f.Reason, c.reason) || f.Zone != zone || f.Server != c.server.at {
				t.Errorf("%+v, want %s, %q", f, c.verdict, c.reason)
			}
		})
	}
}

func TestCheck_ServersWithDifferentKeysAreBogusToCaches(t *testing.T) {
	a, b := newKey(t), newKey(t)
	first, second := start(t, &server{keys: []key{a}, signers: []key{a}}),
		start(t, &server{keys: []key{b}, signers: []key{b}})
	both := start(t, &server{keys: []key{a, b}, signers: []key{a, b}})
	ds := []*dns.DS{a.ds(), b.ds()}
	for i, f := range check(t, ds, first, second) {
		if f.Verdict != Bogus || !strings.Contains(f.Reason,
			"to resolvers that have the keys of "+[]string{second.at, first.at}[i]) {
			t.Errorf("%+v", f)
		}
	}
	if f := check(t, ds[:1], first, second)[1]; f.Verdict != Bogus ||
		!strings.Contains(f.Reason, first.at+" has that key: run gslbctl dnssec sync") {
		t.Errorf("%+v", f)
	}
	for _, f := range check(t, ds, both, both) {
		if f.Verdict != Secure {
			t.Errorf("%+v", f)
		}
	}
}

func TestCheck_ASilentServerIsUnanswered(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	f := Check(ctx, Question{Zone: zone, DS: []*dns.DS{newKey(t).ds()}, Servers: []string{silent.LocalAddr().String()},
		Now: now})[0]
	if f.Verdict != Unanswered || f.Reason == "" {
		t.Errorf("%+v", f)
	}
}

func TestAskDS_ReadsWhatTheParentHas(t *testing.T) {
	a := newKey(t)
	resolver := start(t, &server{keys: []key{a}})
	list, err := AskDS(t.Context(), resolver.at, "gslb.test")
	if err != nil || len(list) != 1 || list[0].Digest != a.ds().Digest {
		t.Errorf("%v, %v", list, err)
	}
	failing := start(t, &server{spoil: func(m *dns.Msg) { m.Rcode, m.Answer = dns.RcodeServerFailure, nil }})
	if _, err := AskDS(t.Context(), failing.at, zone); err == nil ||
		!strings.Contains(err.Error(), "answers SERVFAIL for the DS records of gslb.test.") {
		t.Error(err)
	}
}

func TestParseDS(t *testing.T) {
	want := newKey(t).ds()
	digest := strings.ToUpper(want.Digest)
	for _, text := range []string{
		fmt.Sprintf("%d 13 2 %s", want.KeyTag, digest), fmt.Sprintf("gslb.test. IN DS %d 13 2 %s", want.KeyTag, digest),
		fmt.Sprintf("GSLB.test. 3600 IN DS %d 13 2 %s", want.KeyTag, strings.ToLower(digest)), record(want),
	} {
		if ds, err := ParseDS("gslb.test", text); err != nil || ds.KeyTag != want.KeyTag ||
			!strings.EqualFold(ds.Digest, digest) {
			t.Errorf("%q: %v, %v", text, ds, err)
		}
	}
	for text, words := range map[string]string{
		"": "is no DS record", "x": "is no DS record", "1 2 3": "is no DS record",
		"gslb.test. IN A 192.0.2.1":          "is no DS record",
		"1 13 2 AA":                          "has 64 hexadecimal digits",
		"1 13 2 " + digest[:62] + "zz":       "has 64 hexadecimal digits",
		"1 13 4 " + digest:                   "has 96 hexadecimal digits",
		"other.test. IN DS 1 13 2 " + digest: "another zone than gslb.test",
	} {
		if ds, err := ParseDS("gslb.test", text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, %v", text, ds, err)
		}
	}
}

func FuzzParseDS(f *testing.F) {
	f.Add("34505 13 2 AABB")
	f.Fuzz(func(t *testing.T, text string) {
		if ds, err := ParseDS(zone, text); err == nil && ds == nil {
			t.Error("no record and no error")
		}
	})
}

// FuzzJudge passes arbitrary server answers to the judge.
func FuzzJudge(f *testing.F) {
	a := newKey(f)
	s := &server{t: f, keys: []key{a}, signers: []key{a}, expires: now.Add(time.Hour)}
	soa := new(dns.Msg).SetQuestion(zone, dns.TypeSOA)
	soa.Answer = s.sign([]dns.RR{&dns.SOA{Hdr: dns.RR_Header{Name: zone, Rrtype: dns.TypeSOA, Class: dns.ClassINET},
		Ns: zone, Mbox: zone}})
	keys := new(dns.Msg).SetQuestion(zone, dns.TypeDNSKEY)
	keys.Answer = s.sign([]dns.RR{a.DNSKEY})
	first, err := keys.Pack()
	if err != nil {
		f.Fatal(err)
	}
	second, err := soa.Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(first, second)
	q := Question{Zone: zone, DS: []*dns.DS{a.ds()}, Now: now}
	f.Fuzz(func(t *testing.T, keys, answer []byte) {
		v := view{keys: new(dns.Msg), answers: []*dns.Msg{new(dns.Msg)}}
		if v.keys.Unpack(keys) != nil || v.answers[0].Unpack(answer) != nil || len(v.answers[0].Question) != 1 {
			return
		}
		if finding := q.judge(&v); finding.Reason == "" {
			t.Errorf("%+v says nothing", finding)
		}
	})
}
