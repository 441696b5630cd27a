package dnsserver // inside: it uses responder and udpSize

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// These are the cases of conformance checkers for an authoritative server, and the test of each case:
//
//   - header, flags, opcodes, classes: TestRespond_Header; ids, letter case, odd and long names:
//     TestRespond_RepeatsTheQuestionAsItCame
//   - malformed packets: TestRespond_Malformed, TestRespond_MutatedPackets, FuzzRespond; on real sockets, with later
//     queries of other clients: TestServer_NonsenseHarmsNobodyElse, TestRespond_ADatagramOf64KiB
//   - types, meta types, transfers, ANY, missing names, empty non-terminals, wildcards, other zones, negative answers
//     with their SOA: TestRespond_Records; TTLs, sets without a duplicate: package zone, TestView_*; no octet after the
//     last record: function read, for every response
//   - small responses to refused queries and to ANY: TestRespond_WhatIsNotOursIsRefusedInFewOctets; other sizes:
//     TestSigned_Sizes
//   - EDNS, its versions, flags, options, client subnets: TestRespond_EDNS, TestRespond_KeepaliveOverTCP,
//     TestRespond_EDNSOverTCPAndNoneWithout; scopes that never overlap: package geo, Test*_ScopeIsExact; cookies:
//     TestRespond_Cookie*, TestServerCookie_*, TestRateLimit_CookieOfOursExempts
//   - sizes and truncation: TestRespond_Sizes, TestSigned_Sizes
//   - TCP queries in one segment and in single octets, pipelined queries, half closed, idle and slow connections, other
//     protocols, many connections: TestTCP_*, TestConnections_*; a thousand idle connections of a client to a real
//     node: integration, TestCrowd_*
//   - DNSSEC: TestSigned_*; verification of every proof and signature: package zone, TestSigned_EveryAnswerValidates;
//     verification by other programs: integration, TestDNSSEC_*

// signedLine returns a record of a signed answer of this zone in zone-file form. Of a signature, it returns only the
// covered type and the labels. It omits keys, which differ in each run, the hashed names of NSEC3, and the fields of
// the SOA, which are irrelevant to the test.
func signedLine(rr dns.RR) string {
	h := rr.Header()
	words := []string{strings.TrimSuffix(strings.TrimSuffix(h.Name, "gslb.test."), "."), dns.TypeToString[h.Rrtype]}
	switch rr := rr.(type) {
	case *dns.RRSIG:
		words[1] = fmt.Sprintf("RRSIG(%s %d)", dns.TypeToString[rr.TypeCovered], rr.Labels)
		if rr.TypeCovered == dns.TypeNSEC3 {
			words = words[1:]
		}
	case *dns.DNSKEY, *dns.CDS, *dns.CDNSKEY, *dns.SOA:
	case *dns.NSEC3:
		words = []string{"NSEC3"}
		for _, rtype := range rr.TypeBitMap {
			words = append(words, dns.TypeToString[rtype])
		}
	default:
		words = append(words, strings.Fields(strings.TrimPrefix(rr.String(), h.String()))...)
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func describeSigned(m *dns.Msg) string {
	if m == nil {
		return "no response"
	}
	text := dns.RcodeToString[m.Rcode]
	for _, rr := range m.Answer {
		text += "; " + signedLine(rr)
	}
	for _, rr := range m.Ns {
		text += " | " + signedLine(rr)
	}
	return text
}

// Parts of the proofs in signedCases.
const (
	signedSOA = " | SOA | RRSIG(SOA 2)"
	apexNSEC  = " | NSEC app.gslb.test. NS SOA MX TXT RRSIG NSEC DNSKEY CDS CDNSKEY | RRSIG(NSEC 2)"
	apexNSEC3 = " | NSEC3 NS SOA MX TXT RRSIG DNSKEY NSEC3PARAM CDS CDNSKEY | RRSIG(NSEC3 3)"
	oneNSEC   = " | one NSEC out.gslb.test. A AAAA RRSIG NSEC | one RRSIG(NSEC 3)"
	oneNSEC3  = " | NSEC3 A AAAA RRSIG | RRSIG(NSEC3 3)"
	entNSEC   = " | dual NSEC a.b.ent.gslb.test. A AAAA RRSIG NSEC | dual RRSIG(NSEC 3)"
	wildNSEC  = " | *.wild NSEC www.gslb.test. A RRSIG NSEC | *.wild RRSIG(NSEC 3)"
	addrNSEC3 = " | NSEC3 A RRSIG | RRSIG(NSEC3 3)" // of a name with one A record
	bareNSEC3 = " | NSEC3 | RRSIG(NSEC3 3)"         // of an empty non-terminal
)

// signedCases contains questions with DO to the signed zone, and their answers with NSEC. It contains the answers with
// NSEC3 if they differ.
var signedCases = []struct{ name, rtype, nsec, nsec3 string }{
	{"one.gslb.test.", "A", "NOERROR; one A 10.0.0.6; one RRSIG(A 3)", ""},
	{"oNE.GSLB.test.", "A", "NOERROR; oNE.GSLB.test A 10.0.0.6; oNE.GSLB.test RRSIG(A 3)", ""},
	{"gslb.test.", "SOA", "NOERROR; SOA; RRSIG(SOA 2)", ""},
	{"gslb.test.", "NS", "NOERROR; NS ns1.gslb.test.; NS ns2.gslb.test.; RRSIG(NS 2)", ""},
	{"gslb.test.", "ANY", "NOERROR; NS ns1.gslb.test.; NS ns2.gslb.test.; RRSIG(NS 2)", ""},
	{"gslb.test.", "DNSKEY", "NOERROR; DNSKEY; RRSIG(DNSKEY 2)", ""},
	{"gslb.test.", "CDS", "NOERROR; CDS; RRSIG(CDS 2)", ""},
	{"gslb.test.", "CDNSKEY", "NOERROR; CDNSKEY; RRSIG(CDNSKEY 2)", ""},
	{"gslb.test.", "NSEC3PARAM", "NOERROR" + signedSOA + apexNSEC, "NOERROR; NSEC3PARAM 1 0 0 -; RRSIG(NSEC3PARAM 2)"},
	{"gslb.test.", "DS", "NOERROR" + signedSOA + apexNSEC, "NOERROR" + signedSOA + apexNSEC3},
	{"one.gslb.test.", "RRSIG", "NOERROR; one RRSIG(A 3)", ""},
	{"one.gslb.test.", "TXT", "NOERROR" + signedSOA + oneNSEC, "NOERROR" + signedSOA + oneNSEC3},
	{"one.gslb.test.", "TYPE1000", "NOERROR" + signedSOA + oneNSEC, "NOERROR" + signedSOA + oneNSEC3},
	{"nx.gslb.test.", "A", "NXDOMAIN" + signedSOA + " | ns2 NSEC one.gslb.test. A RRSIG NSEC | ns2 RRSIG(NSEC 3)" +
		apexNSEC, "NXDOMAIN" + signedSOA + apexNSEC3 + oneNSEC3 + addrNSEC3},
	{"sub.one.gslb.test.", "A", "NXDOMAIN" + signedSOA + oneNSEC,
		"NXDOMAIN" + signedSOA + oneNSEC3 + " | NSEC3 CNAME RRSIG | RRSIG(NSEC3 3)" + addrNSEC3},
	{"ent.gslb.test.", "A", "NOERROR" + signedSOA + entNSEC, "NOERROR" + signedSOA + bareNSEC3},
	{"b.ent.gslb.test.", "A", "NOERROR" + signedSOA + entNSEC, "NOERROR" + signedSOA + bareNSEC3},
	{"x.wild.gslb.test.", "A", "NOERROR; x.wild A 192.0.2.4; x.wild RRSIG(A 3)" + wildNSEC,
		"NOERROR; x.wild A 192.0.2.4; x.wild RRSIG(A 3)" + bareNSEC3},
	{"x.wild.gslb.test.", "MX", "NOERROR" + signedSOA + wildNSEC,
		"NOERROR" + signedSOA + addrNSEC3 + bareNSEC3 + bareNSEC3},
	{"www.example.org.", "A", "REFUSED", ""},
	{"down.gslb.test.", "A", "SERVFAIL", ""},
}

func TestSigned_Answers(t *testing.T) {
	for denial, r := range signedResponders(t) {
		for _, c := range signedCases {
			want := c.nsec
			if denial == zone.NSEC3 && c.nsec3 != "" {
				want = c.nsec3
			}
			m := askTCP(t, r, query(t, c.name, typeOf(c.rtype), edns0(4096), doBit))
			if got := describeSigned(m); got != want {
				t.Errorf("%s %s\n got %s\nwant %s", c.name, c.rtype, got, want)
			}
			checkSignatures(t, m)
			bare := askTCP(t, r, query(t, c.name, typeOf(c.rtype)))
			for _, rr := range slices.Concat(bare.Answer, bare.Ns, bare.Extra) {
				if h := rr.Header(); h.Rrtype != typeOf(c.rtype) &&
					slices.Contains([]uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3}, h.Rrtype) {
					t.Errorf("%s %s without DO: %s", c.name, c.rtype, rr)
				}
			}
		}
	}
}

// signedResponders returns a responder for each kind of denial.
func signedResponders(t *testing.T) map[zone.Denial]*responder {
	t.Helper()
	return map[zone.Denial]*responder{zone.NSEC: testResponder(signedView(t, zone.NSEC)),
		zone.NSEC3: testResponder(signedView(t, zone.NSEC3))}
}

// checkSignatures checks the fields of every signature and denial against RFC 4034 section 3.1, RFC 9077 and RFC 9276.
// It also checks that signatures are valid long enough for wrong clocks and for nodes that are unreachable for a
// weekend.
func checkSignatures(t *testing.T, m *dns.Msg) {
	t.Helper()
	now := time.Now()
	ttls := make(map[string]uint32)
	for _, rr := range slices.Concat(m.Answer, m.Ns) {
		h := rr.Header()
		ttls[strings.ToLower(h.Name)+dns.TypeToString[h.Rrtype]] = h.Ttl
	}
	for _, rr := range slices.Concat(m.Answer, m.Ns) {
		switch rr := rr.(type) {
		case *dns.RRSIG:
			from, to := time.Unix(int64(rr.Inception), 0), time.Unix(int64(rr.Expiration), 0)
			if now.Sub(from) < 5*time.Minute || to.Sub(now) < 3*24*time.Hour || to.Sub(now) > 32*24*time.Hour {
				t.Errorf("holds from %s to %s: %s", from, to, rr)
			}
			if rr.SignerName != "gslb.test." || int(rr.Labels) > dns.CountLabel(rr.Hdr.Name) ||
				rr.Algorithm != dns.ECDSAP256SHA256 || rr.OrigTtl < rr.Hdr.Ttl {
				t.Errorf("signer, labels, algorithm or original TTL of %s", rr)
			}
			if ttl, there := ttls[strings.ToLower(rr.Hdr.Name)+dns.TypeToString[rr.TypeCovered]]; there && ttl != rr.Hdr.Ttl {
				t.Errorf("the TTL of what it covers is %d: %s", ttl, rr)
			}
		case *dns.NSEC3:
			if rr.Iterations != 0 || rr.SaltLength != 0 {
				t.Errorf("iterations and salt of %s", rr)
			}
		}
		if h := rr.Header(); len(m.Answer) == 0 && h.Ttl != m.Ns[0].Header().Ttl {
			t.Errorf("TTL %d beside the SOA's %d: %s", h.Ttl, m.Ns[0].Header().Ttl, rr)
		}
	}
}

// No response over UDP is longer than the client's maximum or 1232 octets, and no response is long enough to be useful
// for an amplification attack.
func TestSigned_Sizes(t *testing.T) {
	for _, r := range signedResponders(t) {
		for _, name := range []string{"gslb.test.", "one.gslb.test.", "big.gslb.test.", "nx.gslb.test.",
			"x.wild.gslb.test."} {
			for _, rtype := range []string{"A", "MX", "NS", "SOA", "DNSKEY", "ANY"} {
				for size, limit := range map[uint16]int{0: 512, 512: 512, 1232: 1232, 4096: 1232, 65535: 1232} {
					packet := query(t, name, typeOf(rtype), edns0(size), doBit)
					reply := r.respond(slices.Clone(packet), testClient, false, make([]byte, 0, udpSize))
					m := read(t, reply)
					if len(reply) > limit || len(reply) > 25*len(packet) || m.IsEdns0() == nil ||
						rtype == "DNSKEY" && size > 512 && m.Truncated {
						t.Errorf("%s %s for %d: %d octets for %d, %s", name, rtype, size, len(reply), len(packet), describe(m))
					}
				}
			}
		}
	}
}

func TestRespond_CookieGivenBackIsTaken(t *testing.T) {
	r := testResponder(testView(t))
	given := func(cookie string) string {
		m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA,
			edns0(1232, option(3, ""), option(8, "\x00\x01\x00\x00"), option(9, ""),
				&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: cookie})))
		if describe(m) != "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6" {
			t.Errorf("with %s: %s", cookie, describe(m))
		}
		var all []string
		for _, o := range m.IsEdns0().Option {
			if c, ok := o.(*dns.EDNS0_COOKIE); ok {
				all = append(all, c.Cookie)
			}
		}
		if len(all) != 1 {
			t.Fatalf("with %s: cookies %v, want one", cookie, all)
		}
		return all[0]
	}
	const client = "0102030405060708"
	if first := given(client); given(first) != first || !strings.HasPrefix(first, client) {
		t.Errorf("given %s, and %s for it", first, given(first))
	}
}

// For a valid packet with random changes, the reply equals the reply of the oracle and is a response to the packet.
func TestRespond_MutatedPackets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	plain, signed, good := testView(t), signedView(t, zone.NSEC3), corpus(t)
	for range 4000 {
		packet := slices.Clone(good[random.IntN(len(good))])
		for range 1 + random.IntN(6) {
			if len(packet) == 0 {
				break
			}
			at := random.IntN(len(packet))
			switch random.IntN(4) {
			case 0:
				packet[at] ^= 1 << random.IntN(8)
			case 1:
				packet[at] = []byte{0, 1, 63, 64, 127, 128, 192, 255}[random.IntN(8)]
			case 2:
				packet = slices.Delete(packet, at, min(len(packet), at+1+random.IntN(8)))
			case 3:
				packet = slices.Insert(packet, at, make([]byte, 1+random.IntN(8))...)
			}
		}
		compareWithOracle(t, plain, packet, random.IntN(2) == 0)
		compareWithOracle(t, signed, packet, random.IntN(2) == 0)
	}
}

// A real server that receives empty datagrams and other protocols over TCP still answers queries.
func TestServer_NonsenseHarmsNobodyElse(t *testing.T) {
	s, _, _ := startServer(t, "127.0.0.1:0")
	at := s.Addrs()[0].String()
	for network, begins := range map[string][]string{
		"udp": {"", "\x00", strings.Repeat("\xff", 600)},
		"tcp": {"\x00\x00", "\x00\x05hello", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\xff\xff" + strings.Repeat("\x9c", 2000)},
	} {
		for _, begin := range begins {
			conn, err := net.Dial(network, at)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write([]byte(begin)); err != nil {
				t.Error(err)
			}
			for _, asked := range []string{"udp", "tcp"} {
				if m := exchange(t, asked, at, "one.gslb.test."); len(m.Answer) != 1 {
					t.Errorf("after %.10q over %s: %s", begin, network, describe(m))
				}
			}
			_ = conn.Close()
		}
	}
}

// typeOf parses the name of a type. TYPE1000 is a type without a name (RFC 3597).
func typeOf(text string) uint16 {
	rtype, ok := dns.StringToType[text]
	if !ok {
		fmt.Sscanf(text, "TYPE%d", &rtype)
	}
	return rtype
}
