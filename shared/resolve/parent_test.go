package resolve // inside: it uses the questions that the package asks of a parent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// records returns an Exchange that answers from lines of a zone file.
func records(t *testing.T, lines ...string) Exchange {
	t.Helper()
	var all []dns.RR
	for _, line := range lines {
		rr, err := dns.NewRR(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rr)
	}
	return func(_ context.Context, _, name string, kind uint16, _ bool) (*dns.Msg, error) {
		reply := new(dns.Msg)
		for _, rr := range all {
			if rr.Header().Name == name && rr.Header().Rrtype == kind {
				reply.Answer = append(reply.Answer, rr)
			}
		}
		return reply, nil
	}
}

func TestParents_ClosestZoneAbove(t *testing.T) {
	exchange := records(t, "com. NS a.test.", "example.com. NS ns1.example.com.", "example.com. NS NS2.example.net.",
		"gslb.lan.example.com. NS ns1.gslb.lan.example.com.", "ns1.example.com. A 192.0.2.1",
		"NS2.example.net. A 192.0.2.2", "NS2.example.net. AAAA 2001:db8::2", "ns1.example.com. A 192.0.2.2")
	got, err := Parents(t.Context(), exchange, "192.0.2.53:53", "gslb.lan.example.com")
	if want := "[192.0.2.1:53 192.0.2.2:53 [2001:db8::2]:53]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	if _, err := Parents(t.Context(), exchange, "192.0.2.53:53", "x.example.org"); err == nil ||
		!strings.Contains(err.Error(), "knows no zone above x.example.org.") {
		t.Errorf("without any zone above: %v", err)
	}
	if _, err := Parents(t.Context(), exchange, "192.0.2.53:53", "x.com"); err == nil ||
		!strings.Contains(err.Error(), "a.test. have no address") {
		t.Errorf("without addresses: %v", err)
	}
}
