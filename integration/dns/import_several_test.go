package dns_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
)

// severalSets is a zone of Route 53 whose answers depend on the client's location.
const severalSets = `{"ResourceRecordSets":[
{"Name":"ZONE.","Type":"SOA","TTL":900,"ResourceRecords":[{"Value":"ns.ZONE. a.ZONE. 1 2 3 4 60"}]},
{"Name":"ZONE.","Type":"NS","TTL":SECONDS,"ResourceRecords":[{"Value":"ns.example.net"}]},
{"Name":"www.ZONE.","Type":"A","TTL":30,"SetIdentifier":"a","GeoLocation":{"ContinentCode":"EU"},
 "ResourceRecords":[{"Value":"192.0.2.1"}]},
{"Name":"www.ZONE.","Type":"A","TTL":30,"SetIdentifier":"b","GeoLocation":{"CountryCode":"*"},
 "ResourceRecords":[{"Value":"192.0.2.1"}]}]}`

// A node includes the imports of two zones of Route 53, two of BIND and a configuration of gdnsd. Each zone keeps its
// own TTLs.
func TestImport_SeveralAreServedTogether(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 0)
	write := func(name, text string) string {
		path := filepath.Join(s.Dir, name)
		testbed.Write(t, path, 0o600, text)
		return path
	}
	run := func(args ...string) {
		line := append([]string{testbed.Binaries(t).Control, "import", "--into", s.Dir}, args...)
		testbed.Command(t, line...).Want(t, 0)
	}
	zones := map[string]uint32{"r1.test": 7200, "r2.test": 7300, "b1.test": 7400, "b2.test": 7500, "g.test": 7600}
	sets := func(zone string) string {
		return write(zone+".json", strings.NewReplacer("ZONE", zone, "SECONDS", fmt.Sprint(zones[zone])).Replace(severalSets))
	}
	run("route53", sets("r1.test"), sets("r2.test"))
	for _, zone := range []string{"b1.test", "b2.test"} {
		text := fmt.Sprintf("@ %d SOA ns h 1 2 3 4 60\n@ %[1]d NS ns.example.net.\nwww 30 A 192.0.2.1\n", zones[zone])
		run("bind", write(zone+".db", text), "--zone", zone)
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "gdnsd/zones"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("gdnsd/zones/g.test", fmt.Sprintf("@ %d SOA ns h 1 2 3 4 60\n@ %[1]d NS ns.example.net.\n"+
		"www 30 DYNA multifo!m\n", zones["g.test"]))
	run("gdnsd", write("gdnsd/config", "plugins => { multifo => { m => { service_types => up, a => 192.0.2.1 } } }\n"))
	n := s.Nodes[0]
	for _, name := range []string{"r1.test", "b1.test", "b2.test", "gdnsd"} {
		n.File.Includes = append(n.File.Includes, filepath.Join(s.Dir, name+".yaml"))
	}
	s.StartPrograms(t)
	for zone, ttl := range zones {
		for q, want := range map[question]string{
			{name: zone + ".", rtype: dns.TypeNS}:         fmt.Sprintf("%s. %d ns.example.net.", zone, ttl),
			{name: "www." + zone + ".", rtype: dns.TypeA}: fmt.Sprintf("www.%s. 30 192.0.2.1", zone),
		} {
			reply, err := answerTo(t.Context(), n.DNS, q)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, rr := range reply.Answer {
				h := rr.Header()
				got = append(got, fmt.Sprint(h.Name, " ", h.Ttl, " ", strings.TrimPrefix(rr.String(), h.String())))
			}
			if strings.Join(got, ", ") != want {
				t.Errorf("%s %q, want %s", dns.RcodeToString[reply.Rcode], got, want)
			}
		}
	}
}
