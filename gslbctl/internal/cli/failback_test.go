package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// Nodes that answer from different regions differ, and status says so.
func TestStatus_ShowsThatActiveRegionsDiffer(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	for i, region := range []string{"main", "standby"} {
		d := fakeDomain("app.example.com", "failover", 30, 2, 2)
		d.Failback, d.ActiveRegions = model.Failback{Manual: true}, []string{region}
		nodes[i].answers["GET /api/v1/domains"] = api.DomainList{Total: 1, Domains: []api.Domain{d}}
	}
	const differ = "the nodes differ: domain app.example.com (gslbctl diff)"
	if r := ask(t, "status", nodes...); !strings.Contains(r.out, differ) {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "diff", nodes...); !strings.Contains(r.out, "active region main") ||
		!strings.Contains(r.out, "active region standby") {
		t.Errorf("%+v", r)
	}
}

// The page of a domain has its pending failbacks with the next step.
func TestDomainsShow_HasPendingFailbacks(t *testing.T) {
	n := startNode(t)
	d := fakeDomain("app.example.com", "failover", 30, 2, 2)
	d.Failback = model.Failback{Manual: true}
	pending := api.PendingFailback{Domain: d.Name, Region: "main", Failback: d.Failback, Since: now.Add(-time.Hour),
		Serving: 1, Required: 2}
	for _, c := range []struct {
		can, returns *time.Time
		want         string
	}{
		{nil, nil, "it cannot serve, 1 of 2 required backends"},
		{ago(time.Minute), nil, "gslbctl failback app.example.com returns its clients"},
		{ago(time.Minute), pointer(now.Add(time.Minute)), "its clients return 2026-01-02 03:05:05 UTC"},
	} {
		pending.CanServeSince, pending.ReturnsAt = c.can, c.returns
		d.PendingFailbacks = []api.PendingFailback{pending}
		n.answers["GET /api/v1/domains/app.example.com"] = api.DomainDetail{Domain: d}
		if r := ask(t, "domains show app.example.com", n); !strings.Contains(r.out, "Failback: manual") ||
			!strings.Contains(r.out, "Region main awaits failback since 2026-01-02 02:04:05 UTC: "+c.want) {
			t.Errorf("%+v", r)
		}
	}
}

// Without a region that can serve, nothing is requested.
func TestFailback_NeedsAPendingRegion(t *testing.T) {
	n := startNode(t)
	for _, args := range []string{"failback --region us", "failback --region xx"} {
		if r := ask(t, args, n); r.code == 0 || !strings.Contains(r.errors, "gslbctl failback lists pending failbacks") ||
			len(n.changes()) > 0 {
			t.Errorf("%s: %+v, sent %q", args, r, n.changes())
		}
	}
}

// If the second domain is rejected, the error has the completed part, and does not claim that nothing was changed.
func TestFailback_OfSeveralDomainsReportsAPart(t *testing.T) {
	n := startNode(t)
	n.answers["POST /api/v1/domains/www.example.com/failback"] = &api.Error{Status: 409,
		Message: "failback of www.example.com: the region cannot serve yet"}
	r := ask(t, "failback app.example.com www.example.com", n)
	if r.code != fleet.Degraded || strings.Contains(r.errors, fleet.NothingChanged) ||
		!strings.Contains(r.errors, "the clients of 1 of 2 domains return; then: ") {
		t.Errorf("%+v", r)
	}
}
