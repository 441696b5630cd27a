package zonefile_test

import (
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/overwatch/internal/state/zonefile"
)

// No type accepts empty data: such a record would make the whole set of its name and type invalid.
func TestParse_EveryTypeNeedsData(t *testing.T) {
	for _, rtype := range dns.TypeToString {
		for _, data := range []string{"", " ", "\t"} {
			rr, err := zonefile.Parse("a.example", rtype, data, 60)
			if err == nil {
				t.Errorf("%s with the data %q: %v", rtype, data, rr)
			}
		}
	}
	for _, line := range []string{"www CNAME ", "www A ", "www TXT ", "www MX ", "www SRV ", "www DS ", "www CAA "} {
		parser := dns.NewZoneParser(strings.NewReader(line), "example.", "")
		parser.SetDefaultTTL(60)
		for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
			if plain, err := zonefile.Plain(rr); err == nil || !strings.Contains(err.Error(), "no data") {
				t.Errorf("%q: %v, %v", line, plain, err)
			}
		}
	}
}

// The canonical data of a record parse to the same record, also of a type that this version does not know.
func TestCanonical_ParsesToItself(t *testing.T) {
	for rtype, data := range map[string]string{"A": "192.0.2.1", "TXT": `"a b" "c"`, "MX": "10 Mail.Example.",
		"CAA": `0 issue "ca.example"`, "TYPE65280": `\# 3 0aFF01`, "TYPE65281": `\# 0`,
		"EUI48": "00-00-00-00-00-00", "UID": "0"} {
		rr, err := zonefile.Parse("a.example", rtype, data, 60)
		if err != nil {
			t.Errorf("%s %s: %v", rtype, data, err)
			continue
		}
		name, kind, text := zonefile.Canonical(rr)
		again, err := zonefile.Parse(name, kind, text, 60)
		if err != nil || kind != rtype || name != "a.example" {
			t.Errorf("%s %s: %s %s %q, %v", rtype, data, name, kind, text, err)
			continue
		}
		if _, _, second := zonefile.Canonical(again); second != text {
			t.Errorf("%s %s: %q, then %q", rtype, data, text, second)
		}
	}
}
