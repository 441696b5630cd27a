package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// --tag selects the objects of the domains with a tag in every list of objects of a domain.
func TestTag_SelectsObjectsOfDomains(t *testing.T) {
	n := startNode(t)
	tagged := fakeDomain("www.example.com", "failover", 60, 1, 1)
	n.answers["GET /api/v1/domains?tag=shop"] = api.DomainList{Domains: []api.Domain{tagged}, Total: 1}
	n.answers["GET /api/v1/domains?tag=nothing"] = api.DomainList{Domains: []api.Domain{}}
	www := api.Override{Service: "WWW.example.com", Address: "[2001:db8::1]:443", Reason: "r", CreatedAt: now}
	n.answers["GET /api/v1/overrides"] = api.OverrideList{Overrides: []api.Override{
		{Service: "app.example.com", Address: "192.0.2.11:443", Reason: "r", CreatedAt: now}, www}, Total: 2}
	n.answers["GET /api/v1/overwatch/orders"] = api.OrderList{Orders: []api.Order{
		{Kind: api.OrderDrain, Service: "app.example.com", Address: "192.0.2.11:443"},
		{Kind: api.OrderDrain, Service: "www.example.com", Address: "[2001:db8::1]:443"}}, Total: 2}
	n.answers["GET /api/v1/health/servers"] = api.ServerHealthList{Total: 2, Servers: []api.ServerHealth{
		{ID: "app.example.com:192.0.2.10:443", Service: "app.example.com"},
		{ID: "www.example.com:2001:db8::1:443", Service: "www.example.com"}}}
	for line, want := range map[string]string{
		"domains list":   "www.example.com",
		"servers list":   "www.example.com:2001:db8::1:443",
		"backends list":  "www.example.com:2001:db8::1:443",
		"backends":       "www.example.com:2001:db8::1:443",
		"overrides list": "WWW.example.com [2001:db8::1]:443",
		"orders":         "drain www.example.com [2001:db8::1]:443",
		"health servers": "www.example.com:2001:db8::1:443",
	} {
		if r := ask(t, line+" --tag shop -o name", n); r.code != 0 || r.errors != "" || strings.TrimSpace(r.out) != want {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
		if r := ask(t, line+" --tag nothing -o name", n); r.code != 0 || r.out != "" {
			t.Errorf("%s with an unknown tag: %+v", line, r)
		}
		if r := ask(t, line+" --tag shop -o json", n); line != "domains list" && strings.Contains(r.out, "app.example.com") {
			t.Errorf("%s for programs: %s", line, r.out)
		}
	}
}
