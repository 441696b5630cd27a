// Package signed provides a site that signs its zones, validating resolvers with its DS record as their only trust
// anchor, and checks of keys and signatures.
package signed

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// steeredNames are load-balanced names for every shape of a zone: wildcards and empty non-terminals, in both zones.
var steeredNames = []string{testbed.AppName, testbed.OtherName, "*.wild." + testbed.ZoneName,
	"a.b.ent." + testbed.ZoneName, "www." + testbed.ChildZone, "x.under.deep." + testbed.ChildZone}

// Names are the names to query: existing names, and names near and below them.
var Names = []string{
	testbed.ZoneName, testbed.AppName, testbed.OtherName, "wild." + testbed.ZoneName, "q.wild." + testbed.ZoneName,
	"q.r.s.wild." + testbed.ZoneName, "*.wild." + testbed.ZoneName, "ent." + testbed.ZoneName, "b.ent." + testbed.ZoneName,
	"a.b.ent." + testbed.ZoneName, "c.ent." + testbed.ZoneName, "z.a.b.ent." + testbed.ZoneName, "nx." + testbed.ZoneName,
	"0." + testbed.ZoneName, "zzzz." + testbed.ZoneName, "a.b.c.d.nx." + testbed.ZoneName, "x." + testbed.AppName,
	"ow-1." + testbed.ZoneName, testbed.ChildZone, "www." + testbed.ChildZone, "nx." + testbed.ChildZone,
	"_sip._tcp." + testbed.OtherName, "_tcp." + testbed.OtherName, "_sips._tcp." + testbed.OtherName,
	"deep." + testbed.ChildZone, "x.under.deep." + testbed.ChildZone, "y.deep." + testbed.ChildZone, "APP.test.GSLB.test",
}

// Types are the types to query.
var Types = []uint16{dns.TypeA, dns.TypeAAAA, dns.TypeTXT, dns.TypeMX, dns.TypeSOA, dns.TypeNS, dns.TypeDNSKEY,
	dns.TypeDS, dns.TypeCDS, dns.TypeCDNSKEY, dns.TypeCAA, dns.TypeHTTPS, dns.TypeSRV}

// Site starts a site with one node that signs its zones with the given denial, nsec or nsec3.
func Site(t *testing.T, denial string) (*testbed.Site, *harness.Node) {
	t.Helper()
	s, n := Prepared(t, denial)
	s.StartAll(t)
	return s, n
}

// Prepared is Site without the start of programs.
func Prepared(t *testing.T, denial string) (*testbed.Site, *harness.Node) {
	t.Helper()
	s := testbed.NewSite(t, 1, 2)
	n := s.Nodes[0]
	n.File.DNS.Zones = []string{testbed.ZoneName, testbed.ChildZone}
	n.File.Overwatch.DNSSEC.Denial = denial
	domain := n.File.Domains[0]
	n.File.Domains = nil
	for _, name := range steeredNames {
		domain.Name, domain.SRV, domain.HTTPS.ALPN = name, nil, nil
		if name == testbed.OtherName {
			domain.SRV, domain.HTTPS.ALPN = []string{"_sip._tcp"}, []string{"h2", "h3"}
		}
		n.File.Domains = append(n.File.Domains, domain)
	}
	for i := range n.File.Regions {
		for _, name := range steeredNames[1:] {
			n.File.Regions[i].Servers = append(n.File.Regions[i].Servers, harness.Server{
				Service: name, Address: s.Backends[0].At.Addr(), Port: s.Backends[0].At.Port(), Weight: 100,
				HealthCheck: s.Timing.Check(),
			})
		}
		six := harness.Server{Service: testbed.OtherName, Address: netip.MustParseAddr("2001:db8::7"),
			Port: s.Backends[0].At.Port(), Weight: 100, HealthCheck: s.Timing.Check()}
		six.HealthCheck.Address = s.Backends[0].At.Addr().String()
		n.File.Regions[i].Servers = append(n.File.Regions[i].Servers, six)
	}
	return s, n
}

// DS returns the DS record of testbed.ZoneName from the node's API.
func DS(t *testing.T, n *harness.Node) api.DSRecord {
	t.Helper()
	list, err := n.Client.DSRecords(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ds := range list.DSRecords {
		if ds.Zone == testbed.ZoneName+"." {
			return ds
		}
	}
	t.Fatalf("no DS record of %s among %+v", testbed.ZoneName, list.DSRecords)
	return api.DSRecord{}
}

// Askable reports whether the node answers the question itself. The parent answers for the DS record of the upper zone.
func Askable(name string, rtype uint16) bool { return name != testbed.ZoneName || rtype != dns.TypeDS }
