package dnssec_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"gslb.internal/integration/harness"
	"gslb.internal/integration/harness/signed"
	"gslb.internal/integration/harness/testbed"
	"gslb.internal/shared/api"
)

// A domain that is the only content of its zone can become unsigned and signed through the API. A validating resolver
// accepts it in both states, because the parent zone proves whether the zone is signed. A name in a zone with other
// names cannot become unsigned.
func TestUnsigned_ADomainAloneInItsZone(t *testing.T) {
	s, n := signed.Prepared(t, "nsec")
	const name = "www." + testbed.ChildZone
	below := func(name string) bool { return strings.HasSuffix(name, testbed.ChildZone) }
	n.File.Domains = slices.DeleteFunc(n.File.Domains, func(d harness.Domain) bool { return below(d.Name) })
	for i := range n.File.Regions {
		r := &n.File.Regions[i]
		r.Servers = slices.DeleteFunc(r.Servers, func(s harness.Server) bool { return below(s.Service) })
	}
	s.StartAll(t)
	no, yes, healthy := false, true, true
	if _, err := n.Client.CreateDomain(t.Context(), api.DomainChange{"name": name, "dnssec_enabled": no}); err != nil {
		t.Fatal(err)
	}
	at := s.Backends[0].At
	if _, err := n.Client.CreateServer(t.Context(), api.ServerChange{"service": name, "address": at.Addr().String(),
		"port": int(at.Port()), "region": "eu"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Client.SetOverride(t.Context(), name, at.Addr().String(),
		api.OverrideRequest{Healthy: &healthy, Reason: "test"}); err != nil {
		t.Fatal(err)
	}
	believed := func(secure bool) {
		t.Helper()
		r := signed.Unbound(t, n, signed.DS(t, n).DSRecord)
		for _, rtype := range []uint16{dns.TypeA, dns.TypeMX, dns.TypeSOA} {
			reply, err := r.Ask(name, rtype)
			if reply == nil || reply.Rcode != dns.RcodeSuccess || (err == nil) != secure {
				t.Errorf("%s %s: %v, want secure %t\n%v", name, dns.Type(rtype), err, secure, reply)
			}
			if rtype == dns.TypeA && reply != nil && len(reply.Answer) == 0 {
				t.Errorf("no address: %s", reply)
			}
		}
		if _, err := r.Ask(testbed.ZoneName, dns.TypeSOA); err != nil {
			t.Errorf("the zone above: %v", err)
		}
		list, err := n.Client.DSRecords(t.Context())
		ofChild := func(ds api.DSRecord) bool { return ds.Zone == testbed.ChildZone+"." }
		if err != nil || slices.ContainsFunc(list.DSRecords, ofChild) != secure {
			t.Errorf("%v, %v, want one of %s: %t", list.DSRecords, err, testbed.ChildZone, secure)
		}
		d, err := n.Client.Domain(t.Context(), name)
		if err != nil || d.Domain.DNSSECEnabled != secure {
			t.Errorf("%+v, %v, want dnssec_enabled %t", d.Domain, err, secure)
		}
	}
	change := func(to bool) {
		t.Helper()
		if _, err := n.Client.ChangeDomain(t.Context(), name, api.DomainChange{"dnssec_enabled": to}); err != nil {
			t.Fatal(err)
		}
	}
	believed(false)
	change(yes)
	believed(true)
	change(no)
	believed(false)
	testbed.Kill(t, n)
	testbed.Start(t, n)
	s.Ready(t, n)
	believed(false)

	for _, refused := range []api.DomainChange{{"name": "new." + testbed.ZoneName, "dnssec_enabled": no},
		{"name": "other." + testbed.ChildZone}} {
		_, err := n.Client.CreateDomain(t.Context(), refused)
		_, zone, _ := strings.Cut(refused.Text("name"), ".")
		if err == nil || !strings.Contains(err.Error(), "an unsigned name cannot be inside a signed zone") ||
			!strings.Contains(err.Error(), zone) {
			t.Errorf("%s: %v", refused.Text("name"), err)
		}
	}
	// A file that adds a signed domain to the zone removes no name: the zone is signed.
	beside := n.File.Domains[0]
	beside.Name = "other." + testbed.ChildZone
	n.File.Domains = append(n.File.Domains, beside)
	testbed.Rewrite(t, n)
	testbed.HangUp(t, n)
	r := signed.Unbound(t, n, signed.DS(t, n).DSRecord)
	if _, err := r.Ask(name, dns.TypeA); err != nil {
		t.Error(err)
	}
	testbed.Tells(t, n.Unit, name, "the zone is signed")
}
