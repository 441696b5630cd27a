package dns_test

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness/testbed"
)

// route53Sets is a zone with each routing policy, over backends of which 127.0.7.9 is down.
const route53Sets = `{"ResourceRecordSets":[
{"Name":"r.test.","Type":"SOA","TTL":900,"ResourceRecords":[{"Value":"ns.r.test. a.r.test. 1 2 3 4 60"}]},
{"Name":"r.test.","Type":"NS","TTL":7200,"ResourceRecords":[{"Value":"ns.example.net"}]},
{"Name":"\\052.r.test.","Type":"A","TTL":77,"ResourceRecords":[{"Value":"192.0.2.1"}]},
{"Name":"fo.r.test.","Type":"A","TTL":30,"SetIdentifier":"b","Failover":"SECONDARY",
 "ResourceRecords":[{"Value":"192.0.2.3"},{"Value":"192.0.2.4"}]},
{"Name":"fo.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","Failover":"PRIMARY","HealthCheckId":"h",
 "ResourceRecords":[{"Value":"127.0.7.9"}]},
{"Name":"mv.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","MultiValueAnswer":true,"HealthCheckId":"h",
 "ResourceRecords":[{"Value":"127.0.7.9"}]},
{"Name":"mv.r.test.","Type":"A","TTL":30,"SetIdentifier":"b","MultiValueAnswer":true,
 "ResourceRecords":[{"Value":"192.0.2.5"}]},
{"Name":"geo.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","GeoLocation":{"ContinentCode":"EU"},
 "ResourceRecords":[{"Value":"192.0.2.6"}]},
{"Name":"geo.r.test.","Type":"A","TTL":30,"SetIdentifier":"b","GeoLocation":{"CountryCode":"GB"},
 "ResourceRecords":[{"Value":"192.0.2.7"}]},
{"Name":"geo.r.test.","Type":"A","TTL":30,"SetIdentifier":"c","GeoLocation":{"CountryCode":"*"},
 "ResourceRecords":[{"Value":"192.0.2.8"}]},
{"Name":"lat.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","Region":"eu-west-1",
 "ResourceRecords":[{"Value":"192.0.2.9"}]},
{"Name":"lat.r.test.","Type":"A","TTL":30,"SetIdentifier":"b","Region":"us-west-2",
 "ResourceRecords":[{"Value":"192.0.2.10"}]},
{"Name":"same.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","GeoLocation":{"CountryCode":"GB"},
 "ResourceRecords":[{"Value":"192.0.2.11"}]},
{"Name":"same.r.test.","Type":"A","TTL":30,"SetIdentifier":"b","GeoLocation":{"CountryCode":"US"},
 "ResourceRecords":[{"Value":"192.0.2.11"}]},
{"Name":"same.r.test.","Type":"A","TTL":30,"SetIdentifier":"c","GeoLocation":{"CountryCode":"*"},
 "ResourceRecords":[{"Value":"192.0.2.12"}]},
{"Name":"half.r.test.","Type":"A","TTL":30,"SetIdentifier":"a","Weight":1,
 "ResourceRecords":[{"Value":"192.0.2.13"}]},
{"Name":"half.r.test.","Type":"AAAA","TTL":30,"ResourceRecords":[{"Value":"2001:db8::13"}]},
{"Name":"name.r.test.","Type":"CNAME","TTL":30,"SetIdentifier":"a","Weight":1,"HealthCheckId":"at",
 "ResourceRecords":[{"Value":"name.invalid"}]}
]}`

const route53Checks = `{"HealthChecks":[{"Id":"h","HealthCheckConfig":{"Type":"TCP","Port":9,"RequestInterval":10,
"FailureThreshold":1}},
{"Id":"at","HealthCheckConfig":{"Type":"TCP","Port":9,"IPAddress":"192.0.2.14"}}]}`

// The configuration that `gslbctl import route53` writes results in the answers that Amazon documents for failover,
// geolocation and geoproximity.
func TestImport_Route53IsServed(t *testing.T) {
	t.Parallel()
	s := testbed.NewSite(t, 1, 0)
	write := func(name, text string) string {
		path := filepath.Join(s.Dir, name)
		testbed.Write(t, path, 0o600, text)
		return path
	}
	testbed.Command(t, testbed.Binaries(t).Control, "import", "route53", write("sets.json", route53Sets),
		"--health-checks",
		write("checks.json", route53Checks), "--into", s.Dir).Want(t, 0, "17 imported, 1 omitted",
		"differs: lat.r.test. A b",
		"omitted: half.r.test. AAAA")
	path := filepath.Join(s.Dir, "r.test.yaml")
	text := testbed.Read(t, path)
	database, err := filepath.Abs(testbed.Databases + "GeoIP2-City-Test.mmdb")
	if err != nil {
		t.Fatal(err)
	}
	write("r.test.yaml", strings.Replace(text, "geolocation:\n", fmt.Sprintf("geolocation:\n    database_path: %q\n",
		database), 1))
	n := s.Nodes[0]
	n.File.Includes = []string{path}
	s.StartPrograms(t)
	for _, c := range []struct{ name, client, want string }{
		{"any", "", "192.0.2.1"}, {"fo", "", "192.0.2.3 192.0.2.4"}, {"mv", "", "192.0.2.5"},
		{"geo", testbed.ClientLondon, "192.0.2.7"}, {"geo", testbed.ClientSweden, "192.0.2.6"},
		{"geo", testbed.ClientUS, "192.0.2.8"}, {"geo", testbed.ClientNobody, "192.0.2.8"},
		{"lat", testbed.ClientLondon, "192.0.2.9"}, {"lat", testbed.ClientUS, "192.0.2.10"},
		{"same", testbed.ClientLondon, "192.0.2.11"}, {"same", testbed.ClientUS, "192.0.2.11"},
		{"same", testbed.ClientSweden, "192.0.2.12"}, {"half", "", "192.0.2.13"},
	} {
		testbed.Until(t, time.Minute, c.name+" to "+c.client, func(ctx context.Context) error {
			q := question{name: c.name + ".r.test.", rtype: dns.TypeA}
			if c.client != "" {
				q.client = netip.MustParsePrefix(c.client).Addr().String()
			}
			reply, err := answerTo(ctx, n.DNS, q)
			if err != nil {
				return err
			}
			var got []string
			for _, rr := range reply.Answer {
				got = append(got, rr.(*dns.A).A.String())
			}
			if slices.Sort(got); strings.Join(got, " ") != c.want {
				return fmt.Errorf("%v", got)
			}
			return nil
		})
	}
}
