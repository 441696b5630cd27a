package dnssec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.yaml.in/yaml/v3"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
)

// The node serves a zone file with signatures, in addition to the load-balanced names. It rejects a conflicting zone
// file with all invalid lines, and keeps its previous answers.
func TestDNSSEC_AZoneFileIsServedSigned(t *testing.T) {
	s, n := signed.Site(t, "nsec")
	folder := filepath.Dir(n.Path)
	write := func(name, text string) { testbed.Write(t, filepath.Join(folder, name), 0o600, text) }
	write("main.zone", `$TTL 77
@ SOA ns1 keeper 7 1 2 3 4
@ NS ns1
ns1 A 127.0.0.1
www CNAME app
*.wild TXT "for all"
$INCLUDE more.zone
`)
	write("more.zone", "@ MX 10 mail.example.com.\nlong 5 TXT \"a\" \"b\"\n")
	nameFile(t, n, "main.zone")
	testbed.HangUp(t, n)

	ask := func(name string, rtype uint16) *dns.Msg {
		t.Helper()
		r := testbed.AskNode(t, n, "tcp", name, rtype, 1232, true)
		if count, err := signed.Verify(r, signed.KeysOf(t, n, testbed.ZoneName), time.Now()); err != nil || count == 0 {
			t.Errorf("%s: %d signatures that hold: %v", name, count, err)
		}
		return r
	}
	testbed.Until(t, time.Minute, "the zone file", func(context.Context) error {
		if r := testbed.Exchange(t, "udp", n, "long."+testbed.ZoneName, dns.TypeTXT); len(r.Answer) != 1 {
			return fmt.Errorf("%v", r)
		}
		return nil
	})
	for _, c := range []struct {
		name  string
		rtype uint16
		ttl   uint32
	}{
		{"long." + testbed.ZoneName, dns.TypeTXT, 5},
		{"x.y.wild." + testbed.ZoneName, dns.TypeTXT, 77},
		{testbed.ZoneName, dns.TypeMX, 77},
		{"www." + testbed.ZoneName, dns.TypeCNAME, 77},
		{"www." + testbed.ZoneName, dns.TypeA, 77}, // with the address that is steered behind it
	} {
		if r := ask(c.name, c.rtype); len(r.Answer) < 2 || r.Answer[0].Header().Ttl != c.ttl {
			t.Errorf("%s %s: %v", c.name, dns.TypeToString[c.rtype], r)
		}
	}
	if r := ask(testbed.ZoneName, dns.TypeSOA); r.Answer[0].(*dns.SOA).Mbox != "keeper."+testbed.ZoneName+"." {
		t.Errorf("%v", r)
	}

	write("more.zone", "long A 192.0.2.1\napp A 192.0.2.1\nsub NS ns.example.com.\n")
	testbed.HangUp(t, n)
	testbed.Tells(t, n.Unit, "not reloaded", "more.zone:2")
	ask("long."+testbed.ZoneName, dns.TypeTXT)
	testbed.Command(t, testbed.Binaries(t).Overwatch, "--config", n.Path, "--validate").Want(t, 2,
		"more.zone:2", "is a load-balanced domain", "more.zone:3", "delegate in the parent zone")
	s.NoFailures(t, n, s.Began)
}

// nameFile sets the zone file of the zone in a node's configuration.
func nameFile(t *testing.T, n *harness.Node, name string) {
	t.Helper()
	text, err := os.ReadFile(n.Path)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	config["dns"].(map[string]any)["zones"] = []any{map[string]any{"name": testbed.ZoneName, "file": name}}
	if text, err = yaml.Marshal(config); err != nil {
		t.Fatal(err)
	}
	testbed.Write(t, n.Path, 0o600, string(text))
}
