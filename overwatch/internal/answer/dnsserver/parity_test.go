package dnsserver // inside: it uses headerSize, request and udpSize

import (
	"bytes"
	"slices"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// compareWithOracle answers a packet with reply and with the oracle, both at the same position of every schedule, and
// fails if the replies differ.
func compareWithOracle(t *testing.T, v *zone.View, packet []byte, tcp bool) {
	t.Helper()
	room := udpSize
	if tcp {
		room = maxMessage
	}
	shipped, oracle := testResponder(v), testResponder(v)
	shipped.request, oracle.request = &shipped.single, &oracle.single
	for range 3 {
		kept := slices.Clone(packet)
		oracle.readRequest(oracle.request, packet, testClient, tcp)
		want, wantStatus := oracle.oracleReply(packet, make([]byte, 0, room))
		shipped.readRequest(shipped.request, packet, testClient, tcp)
		got, status := shipped.reply(packet, make([]byte, 0, room))
		if !bytes.Equal(kept, packet) {
			t.Fatalf("the query was changed\n%x\n%x", kept, packet)
		}
		checkReply(t, packet, got, tcp)
		if !bytes.Equal(got, want) || status != wantStatus {
			t.Fatalf("query %x\nreply: %s %x\noracle: %s %x", packet, statusNames[status], got, statusNames[wantStatus],
				want)
		}
	}
}

// checkReply checks the properties of every response, for any packet.
func checkReply(t *testing.T, packet, reply []byte, tcp bool) {
	t.Helper()
	if reply == nil {
		return
	}
	m := read(t, reply)
	switch {
	case len(packet) < headerSize || packet[2]&0x80 != 0:
		t.Fatalf("an answer to what is no query: %x", packet)
	case !m.Response || m.RecursionAvailable || m.AuthenticatedData || m.CheckingDisabled || m.Zero:
		t.Fatalf("flags of %x", reply)
	case reply[0] != packet[0] || reply[1] != packet[1]:
		t.Fatalf("another id: %x for %x", reply, packet)
	case len(m.Question) == 1 && !bytes.HasPrefix(packet[headerSize:], reply[headerSize:questionEnd(reply)]):
		t.Fatalf("another question: %x for %x", reply, packet)
	case !tcp && len(reply) > udpSize:
		t.Fatalf("%d octets over UDP", len(reply))
	case m.Rcode != dns.RcodeSuccess && len(m.Answer) > 0 && m.Answer[0].Header().Rrtype != dns.TypeCNAME:
		t.Fatalf("records beside %s", dns.RcodeToString[m.Rcode])
	}
}

func questionEnd(msg []byte) int {
	next, _ := skipName(msg, headerSize)
	return next + 4
}

// corpus returns valid and invalid packets.
func corpus(t testing.TB) (packets [][]byte) {
	for _, name := range []string{"one.gslb.test.", "ONE.gslb.TEST.", "app.gslb.test.", "big.gslb.test.",
		"dual.gslb.test.", "v6.gslb.test.", "down.gslb.test.", "nx.gslb.test.",
		"ent.gslb.test.", "gslb.test.", "www.gslb.test.", "x.wild.gslb.test.", "example.org.", "."} {
		for _, rtype := range []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeANY, dns.TypeTXT, dns.TypeNS} {
			packets = append(packets, query(t, name, rtype), query(t, name, rtype, edns0(1232), doBit),
				query(t, name, rtype, edns0(512, option(3, ""), option(8, "\x00\x01\x18\x00\xc6\x33\x64"), option(10, "ABCDEFGH"),
					option(11, ""), option(65001, "abc"))))
		}
	}
	packets = append(packets, query(t, "one.gslb.test.", dns.TypeA, edns0(1232), signed),
		query(t, "one.gslb.test.", dns.TypeA, edns0(1232), opcode(dns.OpcodeNotify)))
	for _, c := range malformed(t) {
		packets = append(packets, c.packet)
	}
	return packets
}

func TestRespond_GivesTheOctetsOfTheOracle(t *testing.T) {
	for _, v := range []*zone.View{testView(t), signedView(t, zone.NSEC), signedView(t, zone.NSEC3)} {
		for _, packet := range corpus(t) {
			compareWithOracle(t, v, packet, false)
			compareWithOracle(t, v, packet, true)
		}
	}
}

// FuzzRespond sends packets to reply. The function must not panic, must not answer packets that are not queries, must
// not exceed the size limit, and must agree with the oracle.
func FuzzRespond(f *testing.F) {
	for _, packet := range corpus(f) {
		f.Add(packet, false)
		f.Add(packet, true)
	}
	plain, signed := testView(f), signedView(f, zone.NSEC3)
	f.Fuzz(func(t *testing.T, packet []byte, tcp bool) {
		compareWithOracle(t, plain, packet, tcp)
		compareWithOracle(t, signed, packet, tcp)
	})
}

// commonQueries returns the queries whose answers must not allocate.
func commonQueries(t testing.TB) map[string][]byte {
	all := edns0(1232, option(3, ""), option(8, "\x00\x01\x18\x00\xc6\x33\x64"), option(10, "ABCDEFGH"))
	return map[string][]byte{
		"steered":     query(t, "one.gslb.test.", dns.TypeA),
		"EDNS":        query(t, "one.gslb.test.", dns.TypeA, edns0(1232), doBit),
		"all options": query(t, "one.gslb.test.", dns.TypeA, all),
		"three":       query(t, "app.gslb.test.", dns.TypeA),
		"truncated":   query(t, "big.gslb.test.", dns.TypeA, edns0(1232)),
		"records":     query(t, "gslb.test.", dns.TypeNS),
		"no data":     query(t, "one.gslb.test.", dns.TypeAAAA, edns0(1232)),
		"no name":     query(t, "nx.gslb.test.", dns.TypeA, edns0(1232), doBit),
		"ANY":         query(t, "gslb.test.", dns.TypeANY, edns0(1232)),
		"wildcard":    query(t, "x.wild.gslb.test.", dns.TypeA),
		"refused":     query(t, "www.example.org.", dns.TypeA, edns0(1232)),
		"with DO":     query(t, "app.gslb.test.", dns.TypeA, edns0(1232), doBit),
		"alias":       query(t, "www.gslb.test.", dns.TypeA, edns0(1232), doBit),
		"alias out":   query(t, "out.gslb.test.", dns.TypeA, edns0(1232)),
		"RRSIG":       query(t, "app.gslb.test.", dns.TypeRRSIG, edns0(1232)),
		"transfer":    query(t, "gslb.test.", dns.TypeAXFR, edns0(1232)),
		"opcode":      query(t, "one.gslb.test.", dns.TypeA, edns0(1232), opcode(dns.OpcodeNotify)),
		"down":        query(t, "down.gslb.test.", dns.TypeA, edns0(1232)),
	}
}

func TestRespond_CommonQueriesAllocateNothing(t *testing.T) {
	for _, v := range []*zone.View{testView(t), signedView(t, zone.NSEC), signedView(t, zone.NSEC3)} {
		r := testResponder(v)
		out := make([]byte, 0, udpSize)
		for name, packet := range commonQueries(t) {
			if n := testing.AllocsPerRun(100, func() { r.respond(packet, testClient, false, out) }); n != 0 {
				t.Errorf("%s: %.0f allocations", name, n)
			}
		}
	}
}

func BenchmarkRespond(b *testing.B) {
	r := testResponder(testView(b))
	out := make([]byte, 0, udpSize)
	for name, packet := range commonQueries(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.respond(packet, testClient, false, out)
			}
		})
	}
	for way, denial := range map[string]zone.Denial{"NSEC": zone.NSEC, "NSEC3": zone.NSEC3} {
		signed := testResponder(signedView(b, denial))
		for _, name := range []string{"EDNS", "no data", "no name"} {
			packet := query(b, map[string]string{"EDNS": "one.gslb.test.", "no data": "v6.gslb.test.",
				"no name": "nx.gslb.test."}[name], dns.TypeA, edns0(1232), doBit)
			b.Run("signed, "+way+", "+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					signed.respond(packet, testClient, false, out)
				}
			})
		}
	}
	alias := query(b, "www.gslb.test.", dns.TypeA)
	b.Run("alias", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.respond(alias, testClient, false, out)
		}
	})
}
