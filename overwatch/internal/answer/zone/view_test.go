package zone // inside: it uses headerSize and lowerCase

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"github.com/miekg/dns/dnsutil"

	"gslb.internal/overwatch/internal/policy"
)

const testSOA = "@ 3600 SOA ns1 Host\\.Master 7 3600 600 604800 30"

// contents parses zone-file lines. A line "steer NAME" adds a load-balanced name.
func contents(t testing.TB, apex string, lines ...string) Contents {
	t.Helper()
	c := Contents{Apex: apex}
	for _, line := range append([]string{testSOA}, lines...) {
		if name, ok := strings.CutPrefix(line, "steer "); ok {
			c.Balanced = append(c.Balanced, dnsutil.AddOrigin(name, apex))
			continue
		}
		if name, ok := strings.CutPrefix(line, "alias "); ok {
			name = dnsutil.AddOrigin(name, apex)
			if c.Balanced = append(c.Balanced, name); c.Types == nil {
				c.Types = make(map[string][]*Type)
			}
			c.Types[name] = AliasTypes
			continue
		}
		parser := dns.NewZoneParser(strings.NewReader(line), apex, "")
		parser.SetDefaultTTL(300)
		rr, ok := parser.Next()
		if !ok {
			t.Fatalf("%s: %v", line, parser.Err())
		}
		if soa, isSOA := rr.(*dns.SOA); isSOA {
			c.SOA = soa
			continue
		}
		c.Records = append(c.Records, rr)
	}
	return c
}

func newView(t testing.TB, previous *View, zones ...Contents) *View {
	t.Helper()
	v, err := New(inOrder(zones...), previous)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// inOrder sorts the load-balanced names of zones.
func inOrder(zones ...Contents) (all []*Contents) {
	for _, c := range zones {
		c.Balanced = slices.Compact(slices.Sorted(slices.Values(c.Balanced)))
		all = append(all, &c)
	}
	return all
}

// decide parses addresses and names, each with its parts after a slash ("10.0.0.1/3", "a.test./2"), or "down".
func decide(words string) [2]policy.Decision {
	d := [2]policy.Decision{{Outcome: policy.NoData}, {Outcome: policy.NoData}}
	for _, word := range strings.Fields(words) {
		if word == "down" {
			return [2]policy.Decision{{Outcome: policy.NoHealthyBackend}, {Outcome: policy.NoHealthyBackend}}
		}
		text, parts, _ := strings.Cut(word, "/")
		due := policy.Member{Parts: 1}
		fmt.Sscan(parts, &due.Parts)
		f := policy.IPv4
		if strings.HasSuffix(text, ".") {
			due.Target = text
		} else if due.Address = netip.MustParseAddr(text); due.Address.Is6() {
			f = policy.IPv6
		}
		d[f] = policy.Decision{Outcome: policy.Success, TTL: 60, Members: append(d[f].Members, due)}
	}
	return d
}

func steer(t testing.TB, w *Writer, v *View, name, words string, answers int) bool {
	t.Helper()
	changed, err := w.SetAnswers(v, name, decide(words), answers)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// longTestName is too long for owner.short.
const longTestName = "a-label-that-is-quite-long.and-another-that-is-long-too.gslb.test."

// sample returns a view with names of every kind.
func sample(t testing.TB) *View {
	t.Helper()
	v := newView(t, nil, sampleZones(t)...)
	steerSample(t, v)
	return v
}

func sampleZones(t testing.TB) []Contents {
	t.Helper()
	return []Contents{
		contents(
			t,
			"gslb.test.",
			"@ NS ns1",
			"@ NS NS2.Example.NET.",
			"@ MX 10 mail.gslb.test.",
			"@ TXT \"v=spf1 -all\"",
			"ns1 A 192.0.2.53",
			"ns1 AAAA 2001:db8::53",
			"steer app",
			"steer v6",
			"steer dual",
			"steer a.b.ent",
			"steer big",
			"steer down",
			"steer *.wild",
			"steer a.w",
			"*.w CNAME a.w",
			"alias cdn",
			"alias *.cdns",
			"alias near",
			"alias cdndown",
			"tocdn CNAME cdn",
			"nearcdn CNAME near",
			"app TXT hello",
			"steer "+strings.TrimSuffix(longTestName, ".gslb.test."),
			"www CNAME app",
			"loop1 CNAME loop2",
			"loop2 CNAME loop1",
			"out CNAME app.example.net.",
			"dead CNAME nx",
			"toapex CNAME @",
			"*.chain CNAME y.w",
			"*.lost CNAME x.chain",
			"no6 CNAME v6",
			"toodown CNAME down",
			"srv SRV 1 2 53 ns1",
			"srv SRV 1 2 53 NS1",
			"*.static MX 5 mail.gslb.test.",
			"*.static MX 5 MAIL.gslb.test.",
			"*.static CAA 0 issue \"ca.example\"",
			"UPPER TXT x",
		),
		contents(t, "child.gslb.test.", "@ NS ns1.gslb.test.", "steer www"),
		contents(t, "deep.under.gslb.test."),
		contents(t, "other.example.", "@ NS ns.other.example.", "steer @"),
	}
}

func steerSample(t testing.TB, v *View) {
	t.Helper()
	w := NewWriter()
	steer(t, w, v, "APP.gslb.test", "10.0.0.1/3 10.0.0.2 10.0.0.3/2", 1)
	steer(t, w, v, "v6.gslb.test.", "2001:db8::1", 1)
	steer(t, w, v, "dual.gslb.test.", "10.0.1.1 2001:db8::2 2001:db8::3", 2)
	steer(t, w, v, "a.b.ent.gslb.test.", "10.0.0.9", 1)
	steer(t, w, v, "*.wild.gslb.test.", "10.0.0.8", 1)
	steer(t, w, v, "a.w.gslb.test.", "10.0.0.4", 1)
	steer(t, w, v, "www.child.gslb.test.", "10.0.0.7", 1)
	steer(t, w, v, "other.example.", "10.0.0.6", 1)
	steer(t, w, v, "cdn.gslb.test.", "a.cdn.example./2 Other.CDN.example.", 1)
	steer(t, w, v, "*.cdns.gslb.test.", "a-name-that-is-longer-than-sixteen-octets.example.", 1)
	steer(t, w, v, "near.gslb.test.", "dual.gslb.test. a.cdn.example. nx.gslb.test. x.wild.gslb.test.", 1)
	var hundred []string
	for i := range 100 {
		hundred = append(hundred, fmt.Sprintf("10.1.0.%d", i+1))
	}
	steer(t, w, v, "big.gslb.test.", strings.Join(hundred, " "), 100)
	steer(t, w, v, longTestName, "10.0.0.5", 1)
}

// question packs a header and the question, and parses it like the server.
func question(t testing.TB, name string, rtype uint16) ([]byte, *Question) {
	t.Helper()
	var wire [255]byte
	n, err := dns.PackDomainName(name, wire[:], 0, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	msg := append(make([]byte, headerSize, 1<<16), wire[:n]...)
	msg = binary.BigEndian.AppendUint16(msg, rtype)
	msg = append(msg, 0, 1)
	msg[5] = 1
	low := slices.Clone(wire[:n])
	lowerCase(low)
	return msg, &Question{Name: low, Labels: dns.CountLabel(name), Type: rtype}
}

// ask answers with Append and with the oracle, and fails if the answers differ.
func ask(t testing.TB, v *View, name string, rtype uint16, turns, oracleTurns *Rotations) oracle {
	t.Helper()
	msg, q := question(t, name, rtype)
	got, answer := v.Append(msg, q, turns)
	r := v.oracle(name, rtype, false, netip.Addr{}, oracleTurns)
	want, err := r.AppendTo(slices.Clone(msg))
	if err != nil {
		t.Fatal(err)
	}
	if answer.Kind != r.Kind || int(answer.Answers) != len(r.Answer) || int(answer.Authority) != len(r.Authority) ||
		!bytes.Equal(got, want) {
		t.Errorf("%s %s: Append gives %+v\n%x\nthe oracle %v\n%x", name, dns.Type(rtype), answer, got, r, want)
	}
	binary.BigEndian.PutUint16(want[6:], uint16(len(r.Answer)))
	binary.BigEndian.PutUint16(want[8:], uint16(len(r.Authority)))
	var back dns.Msg
	if err := back.Unpack(want); err != nil {
		t.Fatalf("%s %s: the answer cannot be read: %v", name, dns.Type(rtype), err)
	}
	for i, rr := range slices.Concat(r.Answer, r.Authority) {
		read := slices.Concat(back.Answer, back.Ns)[i]
		if !strings.EqualFold(read.String(), rr.String()) {
			t.Errorf("%s %s: packed as %s, meant %s", name, dns.Type(rtype), read, rr)
		}
	}
	return r
}

func (r oracle) String() string {
	return Resolution{Kind: r.Kind, Answer: r.Answer, Authority: r.Authority}.String()
}

func (r Resolution) String() string {
	words := []string{[]string{"positive", "nodata", "nxdomain", "refused", "failed"}[r.Kind]}
	for _, rr := range r.Answer {
		fields := strings.Fields(rr.String())
		words = append(words, fields[0]+" "+strings.Join(fields[3:], " "))
	}
	for _, rr := range r.Authority {
		words = append(words, "soa of "+rr.Header().Name)
	}
	return strings.Join(words, ", ")
}

func TestView_Answers(t *testing.T) {
	v := sample(t)
	const nx, gslb = "nxdomain, soa of gslb.test.", "nodata, soa of gslb.test."
	cases := []struct{ name, rtype, want string }{
		{"gslb.test.", "SOA", "positive, gslb.test. SOA ns1.gslb.test. Host\\.Master.gslb.test. 7 3600 600 604800 30"},
		{"gslb.test.", "NS", "positive, gslb.test. NS ns1.gslb.test., gslb.test. NS NS2.Example.NET."},
		{"gslb.test.", "A", gslb},
		{"gslb.test.", "DS", gslb},
		{"gslb.test.", "ANY", "positive, gslb.test. NS ns1.gslb.test., gslb.test. NS NS2.Example.NET."},
		{"GsLb.TeSt.", "MX", "positive, GsLb.TeSt. MX 10 mail.gslb.test."},
		{"v6.gslb.test.", "AAAA", "positive, v6.gslb.test. AAAA 2001:db8::1"},
		{"v6.gslb.test.", "A", gslb},
		{"V6.gslb.test.", "ANY", "positive, V6.gslb.test. AAAA 2001:db8::1"},
		{"app.gslb.test.", "AAAA", gslb},
		{"app.gslb.test.", "TXT", "positive, app.gslb.test. TXT \"hello\""},
		{"app.gslb.test.", "TYPE1000", gslb},
		{"upper.gslb.test.", "TXT", "positive, upper.gslb.test. TXT \"x\""},
		{"ns1.gslb.test.", "A", "positive, ns1.gslb.test. A 192.0.2.53"},
		{"ns1.gslb.test.", "TXT", gslb},
		{"srv.gslb.test.", "SRV", "positive, srv.gslb.test. SRV 1 2 53 ns1.gslb.test."},
		{"ent.gslb.test.", "A", gslb},
		{"b.ent.gslb.test.", "ANY", gslb},
		{"a.b.ent.gslb.test.", "A", "positive, a.b.ent.gslb.test. A 10.0.0.9"},
		{"x.b.ent.gslb.test.", "A", nx},
		{"nx.gslb.test.", "A", nx},
		{"sub.app.gslb.test.", "A", nx},
		{"x.ns1.gslb.test.", "A", nx},
		{"a.very.deep.name.that.is.deeper.than.any.other.gslb.test.", "A", nx},
		{longTestName, "A", "positive, " + longTestName + " A 10.0.0.5"},
		{"x" + longTestName, "A", nx},
		{"down.gslb.test.", "A", "failed"},
		{"down.gslb.test.", "ANY", "failed"},
		{"down.gslb.test.", "TXT", gslb},

		{"any.wild.gslb.test.", "A", "positive, any.wild.gslb.test. A 10.0.0.8"},
		{"a.b.c.WILD.gslb.test.", "A", "positive, a.b.c.WILD.gslb.test. A 10.0.0.8"},
		{"any.wild.gslb.test.", "MX", gslb},
		{"wild.gslb.test.", "A", gslb},
		{"x.static.gslb.test.", "MX", "positive, x.static.gslb.test. MX 5 mail.gslb.test."},
		{"x.static.gslb.test.", "CAA", "positive, x.static.gslb.test. CAA 0 issue \"ca.example\""},

		{"www.gslb.test.", "TXT", "positive, www.gslb.test. CNAME app.gslb.test., app.gslb.test. TXT \"hello\""},
		{"www.gslb.test.", "CNAME", "positive, www.gslb.test. CNAME app.gslb.test."},
		{"www.gslb.test.", "ANY", "positive, www.gslb.test. CNAME app.gslb.test."},
		{"out.gslb.test.", "A", "positive, out.gslb.test. CNAME app.example.net."},
		{"dead.gslb.test.", "A", "nxdomain, dead.gslb.test. CNAME nx.gslb.test., soa of gslb.test."},
		{"no6.gslb.test.", "A", "nodata, no6.gslb.test. CNAME v6.gslb.test., soa of gslb.test."},
		{"toodown.gslb.test.", "A", "failed"},
		{"toapex.gslb.test.", "TXT", "positive, toapex.gslb.test. CNAME gslb.test., gslb.test. TXT \"v=spf1 -all\""},
		{"x.lost.gslb.test.", "A", "positive, x.lost.gslb.test. CNAME x.chain.gslb.test., " +
			"x.chain.gslb.test. CNAME y.w.gslb.test., y.w.gslb.test. CNAME a.w.gslb.test., a.w.gslb.test. A 10.0.0.4"},
		{"loop1.gslb.test.", "A", "failed"},

		{"child.gslb.test.", "NS", "positive, child.gslb.test. NS ns1.gslb.test."},
		{"child.gslb.test.", "DS", gslb},
		{"child.gslb.test.", "A", "nodata, soa of child.gslb.test."},
		{"nx.child.gslb.test.", "A", "nxdomain, soa of child.gslb.test."},
		{"under.gslb.test.", "A", gslb},
		{"nx.under.gslb.test.", "A", nx},
		{"nx.deep.under.gslb.test.", "A", "nxdomain, soa of deep.under.gslb.test."},

		{"other.example.", "A", "positive, other.example. A 10.0.0.6"},
		{"other.example.", "DS", "nodata, soa of other.example."},
		{"www.example.org.", "A", "refused"},
		{"test.", "NS", "refused"},
		{".", "NS", "refused"},
		{"xgslb.test.", "A", "refused"},
	}
	fast, slow := NewRotations(1, 2), NewRotations(1, 2)
	for _, c := range cases {
		rtype, ok := dns.StringToType[c.rtype]
		if !ok {
			fmt.Sscanf(c.rtype, "TYPE%d", &rtype)
		}
		if got := ask(t, v, c.name, rtype, fast, slow).String(); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.name, c.rtype, got, c.want)
		}
	}
}

func TestView_NegativeTTLIsTheLowerOfSOATTLAndMinimum(t *testing.T) {
	r := sample(t).Resolve("nx.gslb.test.", dns.TypeA, false, netip.Addr{}, NewRotations(1, 1))
	if got := r.Authority[0].Header().Ttl; got != 30 {
		t.Errorf("TTL %d, want 30", got)
	}
}

func TestView_RecordsOfOneSetGetOneTTL(t *testing.T) {
	v := newView(t, nil, contents(t, "gslb.test.", "m 60 A 10.0.0.1", "m 20 A 10.0.0.2", "m 40 A 10.0.0.2"))
	r := ask(t, v, "m.gslb.test.", dns.TypeA, NewRotations(1, 1), NewRotations(1, 1))
	if len(r.Answer) != 2 || r.Answer[0].Header().Ttl != 20 || r.Answer[1].Header().Ttl != 20 {
		t.Errorf("answer %v, want two records with TTL 20", r.Answer)
	}
}

func TestNew_RefusesWhatHasNoPlace(t *testing.T) {
	cases := map[string][]Contents{
		"is outside the zone":         {contents(t, "gslb.test.", "www.example.org. A 10.0.0.1")},
		"belongs to the zone a.test.": {contents(t, "test.", "x.a.test. A 10.0.0.1"), contents(t, "a.test.")},
		"defined twice":               {contents(t, "gslb.test."), contents(t, "GSLB.test.")},
		"more than fit into one":      {contents(t, "gslb.test.", tooMuch()...)},
	}
	for want, zones := range cases {
		if _, err := New(inOrder(zones...), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func tooMuch() []string {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("t TXT %03d%s", i, strings.Repeat("x", 250)))
	}
	return lines
}

func TestResolve_FollowsAsManyAliasesAsItSays(t *testing.T) {
	lines := []string{fmt.Sprintf("c%d A 192.0.2.1", MaxAliases+1)}
	for i := range MaxAliases + 1 {
		lines = append(lines, fmt.Sprintf("c%d CNAME c%d", i, i+1))
	}
	v := newView(t, nil, contents(t, "gslb.test.", lines...))
	for name, want := range map[string]Kind{"c1.gslb.test.": Positive, "c0.gslb.test.": Failed} {
		r := v.Resolve(name, dns.TypeA, false, netip.Addr{}, NewRotations(1, 1))
		if r.Kind != want || want == Positive && len(r.Answer) != MaxAliases+1 {
			t.Errorf("%s: %v, %v", name, r.Kind, r.Answer)
		}
	}
}
