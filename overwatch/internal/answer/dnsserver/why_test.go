package dnsserver // inside: it uses responder and udpSize

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/answer/zone"
)

// whyResponder returns the explanations "so" and "thus" to clients in 198.51.100.0/24, unless the name begins with
// "no".
func whyResponder(v *zone.View) *responder {
	r := testResponder(v)
	r.explain = func(name string, client, asker netip.Addr, subnet bool) []string {
		if !netip.MustParsePrefix("198.51.100.0/24").Contains(asker) || strings.HasPrefix(name, "no") {
			return nil
		}
		line := name + " for " + client.String() + ` \so"`
		if subnet {
			line += strings.Repeat("x", 300)
		}
		return []string{line, "thus"}
	}
	return r
}

func whyAnswer(t *testing.T, r *responder, packet []byte, from string) *dns.Msg {
	t.Helper()
	return read(t, r.respond(packet, netip.MustParseAddr(from), false, make([]byte, 0, udpSize)))
}

func TestWhy_IsAnsweredToWhoMayKnowAndNotSigned(t *testing.T) {
	r := whyResponder(signedView(t, zone.NSEC))
	m := whyAnswer(t, r, query(t, "_WHY.app.gslb.test.", dns.TypeTXT), "198.51.100.7")
	if m.Rcode != dns.RcodeSuccess || len(m.Answer) != 2 || m.Answer[0].Header().Ttl != 0 ||
		m.Answer[0].Header().Name != "_WHY.app.gslb.test." ||
		m.Answer[0].(*dns.TXT).Txt[0] != `app.gslb.test. for 198.51.100.7 \\so\"` || m.Answer[1].(*dns.TXT).Txt[0] != "thus" {
		t.Fatalf("%v", m)
	}
	// A line that is longer than a character string becomes several strings of one record. Only the scope depends on the
	// client.
	m = whyAnswer(t, r, query(t, "_why.app.gslb.test.", dns.TypeTXT,
		edns0(1232, option(8, "\x00\x01\x18\x00\xcb\x00\x71"))), "198.51.100.7")
	if txt := m.Answer[0].(*dns.TXT).Txt; len(txt) != 2 || !strings.HasPrefix(txt[0], "app.gslb.test. for 203.0.113.0") {
		t.Errorf("%q", txt)
	}
	if subnet := m.IsEdns0().Option[0].(*dns.EDNS0_SUBNET); subnet.SourceScope != 24 {
		t.Errorf("scope %d", subnet.SourceScope)
	}
}

// A client without permission, and a client that validates, receives the same octets as without explanations.
func TestWhy_ChangesNothingForOthers(t *testing.T) {
	for _, denial := range []zone.Denial{zone.NSEC, zone.NSEC3} {
		v := signedView(t, denial)
		with, without := whyResponder(v), testResponder(v)
		for what, c := range map[string]struct {
			packet []byte
			from   string
		}{
			"another network":     {query(t, "_why.app.gslb.test.", dns.TypeTXT), "192.0.2.1"},
			"a validator":         {query(t, "_why.app.gslb.test.", dns.TypeTXT, edns0(1232), doBit), "198.51.100.7"},
			"another type":        {query(t, "_why.app.gslb.test.", dns.TypeA), "198.51.100.7"},
			"no such name":        {query(t, "_why.no.gslb.test.", dns.TypeTXT), "198.51.100.7"},
			"outside":             {query(t, "_why.example.org.", dns.TypeTXT), "198.51.100.7"},
			"a label like it":     {query(t, "_whys.app.gslb.test.", dns.TypeTXT), "198.51.100.7"},
			"the label elsewhere": {query(t, "app._why.gslb.test.", dns.TypeTXT), "198.51.100.7"},
			"another class": {query(t, "_why.app.gslb.test.", dns.TypeTXT,
				func(m *dns.Msg) { m.Question[0].Qclass = dns.ClassCHAOS }), "198.51.100.7"},
		} {
			got, want := whyAnswer(t, with, c.packet, c.from), whyAnswer(t, without, c.packet, c.from)
			if got.String() != want.String() {
				t.Errorf("%s: %v\nwant %v", what, got, want)
			}
		}
	}
}
