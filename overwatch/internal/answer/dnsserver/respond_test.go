package dnsserver // inside: it uses headerSize, responder and udpSize

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/rs/zerolog"

	"gslb.internal/overwatch/internal/answer/zone"
)

var testClient = netip.MustParseAddr("198.51.100.7")

func testResponder(v *zone.View) *responder {
	b := sharedSettings{
		view: func() *zone.View { return v }, nsid: []byte("node-1"), clientSubnet: true, keepalive: 100,
		now: func() time.Time { return time.Unix(1_700_000_000, 0) }, udpSize: new(atomic.Int32),
	}
	b.udpSize.Store(udpSize)
	copy(b.secret[:], "0123456789abcdef")
	return &responder{sharedSettings: b, rotations: zone.NewRotations(1, 2), counts: new(counts)}
}

// query returns a packet with one question. The functions change it.
func query(t testing.TB, name string, rtype uint16, change ...func(*dns.Msg)) []byte {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name, rtype)
	m.Id, m.RecursionDesired = 0x1234, false
	for _, f := range change {
		f(m)
	}
	packet, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packet
}

// edns0 adds an OPT record with options.
func edns0(size uint16, options ...dns.EDNS0) func(*dns.Msg) {
	return func(m *dns.Msg) {
		m.SetEdns0(size, false)
		m.IsEdns0().Option = options
	}
}

func doBit(m *dns.Msg) { m.IsEdns0().SetDo() }

func option(code uint16, octets string) dns.EDNS0 {
	return &dns.EDNS0_LOCAL{Code: code, Data: []byte(octets)}
}

// askUDP answers a packet as a packet over UDP.
func askUDP(t testing.TB, r *responder, packet []byte) *dns.Msg {
	t.Helper()
	return read(t, r.respond(packet, testClient, false, make([]byte, 0, udpSize)))
}

func askTCP(t testing.TB, r *responder, packet []byte) *dns.Msg {
	t.Helper()
	return read(t, r.respond(packet, testClient, true, make([]byte, 0, maxMessage)))
}

// read parses a response, and fails if there are octets after its end.
func read(t testing.TB, reply []byte) *dns.Msg {
	t.Helper()
	if reply == nil {
		return nil
	}
	m := new(dns.Msg)
	if err := m.Unpack(reply); err != nil {
		t.Fatalf("the response cannot be read: %v\n%x", err, reply)
	}
	end := headerSize
	for i := range len(m.Question) + len(m.Answer) + len(m.Ns) + len(m.Extra) {
		next, _ := skipName(reply, end)
		if end = next + 4; i >= len(m.Question) {
			end = next + 10 + int(binary.BigEndian.Uint16(reply[next+8:]))
		}
	}
	if end != len(reply) {
		t.Fatalf("%d octets after the last record: %x", len(reply)-end, reply)
	}
	return m
}

// describe returns a text for a response: code, flags, the records of the answer section, and after a bar the records
// of the authority section.
func describe(m *dns.Msg) string {
	if m == nil {
		return "no response"
	}
	words := []string{dns.RcodeToString[m.Rcode]}
	if m.Rcode == dns.RcodeBadVers { // which TSIG calls BADSIG
		words[0] = "BADVERS"
	}
	for _, f := range []struct {
		set  bool
		name string
	}{{m.Authoritative, "aa"}, {m.Truncated, "tc"}, {m.RecursionDesired, "rd"}, {m.RecursionAvailable, "ra"},
		{m.AuthenticatedData, "ad"}, {m.CheckingDisabled, "cd"}, {m.Zero, "z"}} {
		if f.set {
			words = append(words, f.name)
		}
	}
	text := strings.Join(words, " ")
	for _, rr := range m.Answer {
		text += "; " + strings.Join(strings.Fields(rr.String()), " ")
	}
	for _, rr := range m.Ns {
		text += " | " + strings.Join(strings.Fields(rr.String()), " ")
	}
	return text
}

const soaLine = " | gslb.test. 30 IN SOA ns1.gslb.test. hostmaster.gslb.test. 1 3600 600 604800 30"

func TestRespond_Records(t *testing.T) {
	const nx, none = "NXDOMAIN aa" + soaLine, "NOERROR aa" + soaLine
	cases := []struct{ name, rtype, want string }{
		{"gslb.test.", "SOA", "NOERROR aa; gslb.test. 3600 IN SOA ns1.gslb.test. hostmaster.gslb.test. 1 3600 600 604800 30"},
		{"gslb.test.", "NS", "NOERROR aa; gslb.test. 3600 IN NS ns1.gslb.test.; gslb.test. 3600 IN NS ns2.gslb.test."},
		{"one.gslb.test.", "A", "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6"},
		{"oNe.GSLB.test.", "A", "NOERROR aa; oNe.GSLB.test. 60 IN A 10.0.0.6"},
		{"v6.gslb.test.", "AAAA", "NOERROR aa; v6.gslb.test. 60 IN AAAA 2001:db8::1"},
		{"v6.gslb.test.", "A", none},
		{"ns1.gslb.test.", "A", "NOERROR aa; ns1.gslb.test. 3600 IN A 192.0.2.1"},
		{"gslb.test.", "MX", "NOERROR aa; gslb.test. 300 IN MX 10 mail.gslb.test."},
		{"www.gslb.test.", "TXT", "NOERROR aa; www.gslb.test. 300 IN CNAME app.gslb.test." + soaLine},
		{"x.wild.gslb.test.", "A", "NOERROR aa; x.wild.gslb.test. 300 IN A 192.0.2.4"},
		{"x.wild.gslb.test.", "MX", none},
		{"down.gslb.test.", "A", "SERVFAIL"},
		{"nx.gslb.test.", "A", nx},
		{"nx.gslb.test.", "AAAA", nx},
		{"nx.gslb.test.", "TYPE1000", nx},
		{"nx.gslb.test.", "ANY", nx},
		{"sub.nx.gslb.test.", "A", nx},
		{"sub.one.gslb.test.", "A", nx},
		{`\000\255\.\ .gslb.test.`, "A", nx},
		{strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("b", 51) + ".gslb.test.", "A", nx},
		{"ent.gslb.test.", "A", none},
		{"b.ent.gslb.test.", "A", none},
		{"one.gslb.test.", "TXT", none},
		{"one.gslb.test.", "AAAA", none},
		{"one.gslb.test.", "HTTPS", none},
		{"one.gslb.test.", "SRV", none},
		{"one.gslb.test.", "CAA", none},
		{"one.gslb.test.", "PTR", none},
		{"one.gslb.test.", "NULL", none},
		{"one.gslb.test.", "TYPE1000", none},
		{"one.gslb.test.", "TYPE65280", none},
		{"gslb.test.", "DS", none},
		{"gslb.test.", "RRSIG", none},
		{"one.gslb.test.", "ANY", "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6"},
		{"www.example.org.", "NS", "REFUSED"},
		{".", "NS", "REFUSED"},
		{"test.", "NS", "REFUSED"},
		{"gslb.test.", "AXFR", "REFUSED"},
		{"gslb.test.", "IXFR", "REFUSED"},
		{"one.gslb.test.", "MAILA", "NOTIMP"},
		{"one.gslb.test.", "MAILB", "NOTIMP"},
		{"one.gslb.test.", "TKEY", "NOTIMP"},
		{"one.gslb.test.", "TSIG", "FORMERR"},
		{"one.gslb.test.", "OPT", "FORMERR"},
		{"one.gslb.test.", "TYPE0", "FORMERR"},
		{"one.gslb.test.", "TYPE128", "FORMERR"}, // NXNAME
	}
	r := testResponder(testView(t))
	for _, c := range cases {
		rtype := typeOf(c.rtype)
		packet := query(t, c.name, rtype)
		for transport, m := range map[string]*dns.Msg{"UDP": askUDP(t, r, packet), "TCP": askTCP(t, r, packet)} {
			if got := describe(m); got != c.want {
				t.Errorf("%s %s over %s\n got %s\nwant %s", c.name, c.rtype, transport, got, c.want)
				continue
			}
			if q := m.Question; len(q) != 1 || q[0].Name != c.name || q[0].Qtype != rtype || m.Id != 0x1234 ||
				m.IsEdns0() != nil {
				t.Errorf("%s %s: question, id or OPT are not as asked: %v", c.name, c.rtype, m)
			}
		}
	}
}

// The test covers the permitted octets of a name, and the parts of the query that the response repeats unchanged.
func TestRespond_RepeatsTheQuestionAsItCame(t *testing.T) {
	long := strings.Repeat("\x3f"+strings.Repeat("a", 63), 3)
	const zoneName = "\x04gslb\x04test\x00"
	r := testResponder(testView(t))
	for _, c := range []struct {
		name, question string
		id             uint16
		want           string
	}{
		{"id 0", "\x03one" + zoneName, 0, "NOERROR"},
		{"id 1", "\x03one" + zoneName, 1, "NOERROR"},
		{"the highest id", "\x03one" + zoneName, 0xFFFF, "NOERROR"},
		{"upper case", "\x03ONE\x04GSLB\x04TEST\x00", 7, "NOERROR"},
		{"mixed case", "\x03oNe\x04gSlB\x04TeSt\x00", 7, "NOERROR"},
		{"octets that are no letters", "\x04\x00\xff\x2e\x20" + zoneName, 7, "NXDOMAIN"},
		{"255 octets in the zone", long + "\x33" + strings.Repeat("b", 51) + zoneName, 7, "NXDOMAIN"},
		{"an underscore", "\x05_http\x03one" + zoneName, 7, "NXDOMAIN"},
		{"an asterisk", "\x01*\x04wild" + zoneName, 7, "NOERROR"},
	} {
		packet := binary.BigEndian.AppendUint16(nil, c.id)
		packet = append(append(packet, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0), c.question+"\x00\x01\x00\x01"...)
		reply := r.respond(slices.Clone(packet), testClient, false, make([]byte, 0, udpSize))
		m := read(t, reply)
		if m.Id != c.id || dns.RcodeToString[m.Rcode] != c.want || !m.Authoritative ||
			!bytes.Equal(reply[headerSize:len(packet)], packet[headerSize:]) {
			t.Errorf("%s: %s, id %d, question %x", c.name, describe(m), m.Id, reply[headerSize:len(packet)])
		}
		for _, rr := range m.Answer {
			if rr.Header().Name != m.Question[0].Name {
				t.Errorf("%s: the answer is of %s", c.name, rr.Header().Name)
			}
		}
	}
}

// A refusal is too short to be useful for an amplification attack. The same applies to an answer to ANY for an apex.
func TestRespond_WhatIsNotOursIsRefusedInFewOctets(t *testing.T) {
	r := testResponder(signedView(t, zone.NSEC))
	for name, limit := range map[string]int{"www.example.org.": 24, "gslb.test.": 512 - 50} {
		packet := query(t, name, dns.TypeANY, edns0(4096), doBit)
		reply := r.respond(slices.Clone(packet), testClient, false, make([]byte, 0, udpSize))
		if len(reply) > len(packet)+limit {
			t.Errorf("%s: %d octets for %d", name, len(reply), len(packet))
		}
	}
}

func TestRespond_FollowsAnAliasInTheZone(t *testing.T) {
	m := askUDP(t, testResponder(testView(t)), query(t, "www.gslb.test.", dns.TypeA))
	if len(m.Answer) != 4 || m.Answer[0].Header().Rrtype != dns.TypeCNAME ||
		m.Answer[1].Header().Name != "app.gslb.test." {
		t.Errorf("%s, want the alias and three addresses", describe(m))
	}
}

func TestRespond_Header(t *testing.T) {
	const good = "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6"
	flag := func(bits uint16) func([]byte) { return func(p []byte) { p[2] |= byte(bits >> 8); p[3] |= byte(bits) } }
	opcode := func(n byte) func([]byte) { return func(p []byte) { p[2] |= n << 3 } }
	class := func(n uint16) func([]byte) {
		return func(p []byte) { binary.BigEndian.PutUint16(p[len(p)-2:], n) }
	}
	cases := []struct {
		name   string
		change func([]byte)
		want   string
	}{
		{"RD is copied", flag(flagRecursion), "NOERROR aa rd; one.gslb.test. 60 IN A 10.0.0.6"},
		{"Z is ignored", flag(0x40), good},
		{"AD is ignored", flag(0x20), good},
		{"CD is ignored", flag(0x10), good},
		{"AA is ignored", flag(flagAuthoritative), good},
		{"TC is ignored", flag(flagTruncated), good},
		{"RA is ignored", flag(0x80), good},
		{"a response code is ignored", flag(5), good},
		{"a response gets none", flag(flagResponse), "no response"},
		{"IQUERY", opcode(1), "NOTIMP"}, {"STATUS", opcode(2), "NOTIMP"}, {"opcode 3", opcode(3), "NOTIMP"},
		{"NOTIFY", opcode(4), "NOTIMP"}, {"UPDATE", opcode(5), "NOTIMP"}, {"DSO", opcode(6), "NOTIMP"},
		{"opcode 15", opcode(15), "NOTIMP"},
		{"class CH", class(3), "REFUSED"}, {"class HS", class(4), "REFUSED"}, {"class NONE", class(254), "REFUSED"},
		{"class ANY", class(255), "REFUSED"}, {"class unknown", class(65280), "REFUSED"},
	}
	r := testResponder(testView(t))
	for _, c := range cases {
		packet := query(t, "one.gslb.test.", dns.TypeA)
		c.change(packet)
		m := askUDP(t, r, packet)
		if got := describe(m); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if m != nil && (m.Opcode != int(packet[2]>>3&15) || m.Id != 0x1234 || !m.Response) {
			t.Errorf("%s: opcode %d, id %x", c.name, m.Opcode, m.Id)
		}
	}
	version := query(t, "version.bind.", dns.TypeTXT)
	class(3)(version)
	if got := describe(askUDP(t, r, version)); got != "REFUSED" {
		t.Errorf("version.bind: %s", got)
	}
}

// malformed contains packets and their responses. The packets are also the initial corpus of the fuzzer.
func malformed(t testing.TB) map[string]struct {
	packet []byte
	want   string
} {
	head := func(counts ...uint16) []byte {
		out := []byte{0x12, 0x34, 0, 0}
		for _, n := range counts {
			out = binary.BigEndian.AppendUint16(out, n)
		}
		return out
	}
	name := "\x03one\x04gslb\x04test\x00"
	tail := "\x00\x01\x00\x01"
	record := "\x00\x01\x00\x01\x00\x00\x00\x1e\x00\x04\x01\x02\x03\x04"
	opt := func(rest string) string { return "\x00\x00\x29\x04\xd0\x00\x00\x00\x00" + rest }
	good := "NOERROR aa; one.gslb.test. 60 IN A 10.0.0.6"
	p := func(h []byte, rest ...string) []byte { return append(h, strings.Join(rest, "")...) }
	type c = struct {
		packet []byte
		want   string
	}
	return map[string]c{
		"empty":                   {nil, "no response"},
		"one octet":               {[]byte{0}, "no response"},
		"half a header":           {head(1, 0, 0, 0)[:11], "no response"},
		"no question where one":   {head(1, 0, 0, 0), "FORMERR"},
		"no question":             {head(0, 0, 0, 0), "FORMERR"},
		"opcode 15, header only":  {append([]byte{0x12, 0x34, 15 << 3, 0}, make([]byte, 8)...), "NOTIMP"},
		"two questions":           {p(head(2, 0, 0, 0), name, tail, name, tail), "FORMERR"},
		"name cut off":            {p(head(1, 0, 0, 0), name[:4]), "FORMERR"},
		"no type":                 {p(head(1, 0, 0, 0), name), "FORMERR"},
		"half a class":            {p(head(1, 0, 0, 0), name, tail[:3]), "FORMERR"},
		"pointer to itself":       {p(head(1, 0, 0, 0), "\xc0\x0c", tail), "FORMERR"},
		"pointers in a ring":      {p(head(1, 0, 0, 0), "\x01a\xc0\x10\xc0\x0c", tail), "FORMERR"},
		"pointer ahead":           {p(head(1, 0, 0, 0), "\xc0\x20", tail), "FORMERR"},
		"pointer past the end":    {p(head(1, 0, 0, 0), "\xff\xff", tail), "FORMERR"},
		"pointer into the header": {p(head(1, 0, 0, 0), "\xc0\x00", tail), "FORMERR"},
		"label type 01":           {p(head(1, 0, 0, 0), "\x41a\x00", tail), "FORMERR"},
		"label type 10":           {p(head(1, 0, 0, 0), "\x81a\x00", tail), "FORMERR"},
		"name of 257 octets": {p(head(1, 0, 0, 0), strings.Repeat("\x3f"+strings.Repeat("a", 63), 4), "\x00", tail),
			"FORMERR"},
		"name of 256 octets": {p(head(1, 0, 0, 0), strings.Repeat("\x3f"+strings.Repeat("a", 63), 3), "\x3e",
			strings.Repeat("a", 62), "\x00", tail), "FORMERR"},
		"name of 255 octets": {p(head(1, 0, 0, 0), strings.Repeat("\x3f"+strings.Repeat("a", 63), 3), "\x3d",
			strings.Repeat("a", 61), "\x00", tail), "REFUSED"},
		"128 labels":             {p(head(1, 0, 0, 0), strings.Repeat("\x01a", 128), "\x00", tail), "FORMERR"},
		"127 labels":             {p(head(1, 0, 0, 0), strings.Repeat("\x01a", 127), "\x00", tail), "REFUSED"},
		"answers that are not":   {p(head(1, 9, 0, 0), name, tail), "FORMERR"},
		"additional not there":   {p(head(1, 0, 0, 65535), name, tail), "FORMERR"},
		"octets at the end":      {p(head(1, 0, 0, 0), name, tail, "\xde\xad"), "FORMERR"},
		"an answer in a query":   {p(head(1, 1, 0, 0), name, tail, name, record), good},
		"an unknown additional":  {p(head(1, 0, 0, 1), name, tail, "\xc0\x0c", record), good},
		"compressed and cut off": {p(head(1, 0, 0, 1), name, tail, "\xc0"), "FORMERR"},
		"OPT data past the end":  {p(head(1, 0, 0, 1), name, tail, opt("\x01\xf4")), "FORMERR"},
		"OPT cut off":            {p(head(1, 0, 0, 1), name, tail, opt("\x00")), "FORMERR"},
		"two OPT":                {p(head(1, 0, 0, 2), name, tail, opt("\x00\x00"), opt("\x00\x00")), "FORMERR"},
		"OPT with an owner":      {p(head(1, 0, 0, 1), name, tail, "\x01a", opt("\x00\x00")), "FORMERR"},
		"OPT as an answer":       {p(head(1, 1, 0, 0), name, tail, opt("\x00\x00")), "FORMERR"},
		"option past the end":    {p(head(1, 0, 0, 1), name, tail, opt("\x00\x04\x00\x0a\x00\x20")), "FORMERR"},
		"half an option":         {p(head(1, 0, 0, 1), name, tail, opt("\x00\x03\x00\x0a\x00")), "FORMERR"},
		"OPT among others":       {p(head(1, 0, 0, 2), name, tail, "\xc0\x0c", record, opt("\x00\x00")), good},
	}
}

func TestRespond_Malformed(t *testing.T) {
	r := testResponder(testView(t))
	for name, c := range malformed(t) {
		m := askUDP(t, r, slices.Clone(c.packet))
		if got := describe(m); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if m != nil && (m.Id != 0x1234 || !m.Response) {
			t.Errorf("%s: the response does not belong to the query: %v", name, m)
		}
	}
}

func TestRespond_CountsEachQueryOnce(t *testing.T) {
	r := testResponder(testView(t))
	for _, name := range []string{"one.gslb.test.", "one.gslb.test.", "v6.gslb.test.", "nx.gslb.test.", "www.example.org.",
		"down.gslb.test."} {
		askUDP(t, r, query(t, name, dns.TypeA))
	}
	askUDP(t, r, query(t, "big.gslb.test.", dns.TypeA))
	askUDP(t, r, []byte("too short"))
	want := map[status]uint64{success: 3, noData: 1, nxDomain: 1, refused: 1, servFail: 1, dropped: 1}
	for s := range statuses {
		if got := r.counts.queries[s].Load(); got != want[s] {
			t.Errorf("%s: %d, want %d", statusNames[s], got, want[s])
		}
	}
	if got := r.counts.truncated.Load(); got != 1 {
		t.Errorf("%d truncated, want 1", got)
	}
}

func TestRespond_AFaultOfOursCostsOneAnswerAndIsToldRarely(t *testing.T) {
	var log bytes.Buffer
	r := testResponder(nil)
	r.log = zerolog.New(&log)
	for range 100 {
		if m := askUDP(t, r, query(t, "one.gslb.test.", dns.TypeA)); describe(m) != "SERVFAIL" || m.Id != 0x1234 {
			t.Fatalf("%s", describe(m))
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 7 || !strings.Contains(log.String(), "zone.(*View)") {
		t.Errorf("%d lines for 100 faults, want 7 with the stack: %s", n, &log)
	}
	if got := r.counts.queries[servFail].Load(); got != 100 {
		t.Errorf("%d counted, want 100", got)
	}
}

// A fault during the load of memory is reported, and each query receives the same answer as without the fault.
func TestFetch_AFaultOfOursIsToldAndNoMore(t *testing.T) {
	var log bytes.Buffer
	r := testResponder(nil)
	r.log = zerolog.New(&log)
	requests := make([]request, 2)
	for i := range requests {
		r.readRequest(&requests[i], query(t, "one.gslb.test.", dns.TypeA), testClient, false)
	}
	r.prefetch(requests)
	if got := r.counts.faults.Load(); got != 1 || !strings.Contains(log.String(), "zone.(*View).Prefetch") {
		t.Errorf("%d faults counted, want 1 with the stack: %s", got, &log)
	}
	if got := r.counts.queries[servFail].Load(); got != 0 {
		t.Errorf("%d queries counted, want none", got)
	}
}

func TestFetch_AllocatesNothing(t *testing.T) {
	r := testResponder(testView(t))
	requests := make([]request, 2)
	for i := range requests {
		r.readRequest(&requests[i], query(t, "one.gslb.test.", dns.TypeA, edns0(1232), doBit), testClient, false)
	}
	if n := testing.AllocsPerRun(100, func() { r.prefetch(requests) }); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}
