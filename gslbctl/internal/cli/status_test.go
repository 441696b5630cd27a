package cli

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

func TestStatus_JudgesAllNodesTogether(t *testing.T) {
	well := func(n *node) {
		n.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy, Version: "1.2.3"}
		n.answers["GET /api/v1/overwatch/backends?status=unhealthy"] = api.BackendList{}
		n.answers["GET /api/v1/overwatch/backends?status=stale"] = api.BackendList{}
		n.answers["GET /api/v1/overwatch/agents/expiring"] = api.ExpiringAgents{}
		n.answers["GET /api/v1/overwatch/locks"] = &api.Error{Status: 404, Message: "a node of before has no locks"}
		n.answers["GET /api/v1/dnssec/status"] = api.DNSSECStatus{}
	}
	for _, tc := range []struct {
		name          string
		first, second func(*node)
		code          int
	}{
		{"both well", well, well, 0},
		{"one degraded", well, func(*node) {}, 1},
		{"one not ready and its checks set aside", well, func(n *node) {
			well(n)
			n.answers["GET /api/health"] = api.Health{Status: api.ServiceUnhealthy, Version: "1.2.3"}
			n.answers["GET /api/v1/ready"] = api.Readiness{Message: "the DNS server does not answer yet"}
			n.answers["GET /api/v1/overwatch/stats"] = api.Stats{ValidationEnabled: true, ValidationSuspended: true}
			n.answers["GET /api/v1/domains"] = api.DomainList{
				Domains: []api.Domain{{Name: "down.example.com", BackendCount: 2}, {Name: "empty.example.com"}}, Total: 2}
		}, 1},
		{"one lets us see its health only", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overwatch/stats"] = &api.Error{Status: 403,
				Message: "127.0.0.1 is not in api.allowed_networks"}
		}, 1},
		{"a service locked", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overwatch/locks"] = api.TokenLockList{Locks: []api.TokenLock{
				{Service: "app.example.com", AgentID: "eu-1"}, {Service: "db.example.com", AgentID: "eu-2", AdmitsNew: true},
			}}
		}, 0},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		tc.first(nodes[0])
		tc.second(nodes[1])
		r := call(t, System{}, nodes, "status", "--api", documented(0), "--api", documented(1))
		if r.code != tc.code || r.errors != "" {
			t.Errorf("%s: exit code %d, %s", tc.name, r.code, r.errors)
		}
		golden(t, "status, "+tc.name, r.out)
	}
}

func TestStatus_ManyProblemsStayOnOneScreen(t *testing.T) {
	n := startNode(t)
	var many api.BackendList
	for i := range 500 {
		many.Backends = append(many.Backends, api.Backend{Service: "app.example.com", Address: "192.0.2.1", Port: i + 1,
			EffectiveStatus: api.EffectiveUnhealthy, Reason: "r"})
	}
	many.Backends[0].Override = &api.ActiveOverride{Reason: "meant"}
	many.Total = len(many.Backends)
	n.answers["GET /api/v1/overwatch/backends?status=unhealthy"] = many
	r := call(t, System{}, []*node{n}, "status", "--api", documented(0))
	if strings.Count(r.out, "\n  - ") != maxProblems+1 || !strings.Contains(r.out, "504 things need attention") ||
		!strings.Contains(r.out, "and 484 more") || strings.Contains(r.out, "meant") {
		t.Errorf("%s", r.out)
	}
}

func TestStatus_NodeWithoutAnswerDegradesAndAllWithoutAreUnreachable(t *testing.T) {
	n := startNode(t)
	gone := dead(t)
	r := call(t, System{}, []*node{n}, "status", "--api", documented(0), "--api", gone)
	if r.code != 1 || !strings.Contains(r.out, "no answer") ||
		!strings.Contains(r.out, "nothing listens on http://"+gone) {
		t.Errorf("one of two: %+v", r)
	}
	for _, args := range [][]string{{"status", "--api", gone}, {"status", "--api", gone, "--api", dead(t)},
		{"health", "--api", gone}} {
		if r := call(t, System{}, nil, args...); r.code != 2 || r.out != "" || r.errors == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}
