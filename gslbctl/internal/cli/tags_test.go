package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

// A tag chooses domains of the list, is completed from those that there are, and one that no domain has is answered
// with those that are near.
func TestDomainsList_ByTag(t *testing.T) {
	n := startNode(t)
	tagged := func(name string, tags ...string) api.Domain {
		return api.Domain{ID: name, Name: name, RoutingPolicy: "weighted", Tags: tags}
	}
	shop, blog := tagged("shop.example.com", "prod", "money"), tagged("blog.example.com", "prod")
	n.set("GET /api/v1/domains", api.DomainList{Domains: []api.Domain{shop, blog}, Total: 2})
	n.set("GET /api/v1/domains?tag=money", api.DomainList{Domains: []api.Domain{shop}, Total: 1})
	n.set("GET /api/v1/domains?tag=mony", api.DomainList{Domains: []api.Domain{}})
	nodes := []*node{n}
	if r := ask(t, "domains list --tag money", nodes...); r.code != 0 || !strings.Contains(r.out, "shop.example.com") ||
		strings.Contains(r.out, "blog") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "domains list --tag mony", nodes...); r.code != 0 ||
		!strings.Contains(r.out, "No domain has the tag mony") || !strings.Contains(r.out, "money") {
		t.Errorf("%+v", r)
	}
	r := call(t, System{}, nodes, "__complete", "--api", documented(0), "domains", "list", "--tag", "")
	if got := strings.Fields(strings.Split(r.out, "\n:4")[0]); strings.Join(got, " ") != "money prod" {
		t.Errorf("offered are %v (%+v)", got, r)
	}
}
