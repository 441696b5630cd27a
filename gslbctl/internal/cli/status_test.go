package cli // inside: it uses maxProblems

import (
	"crypto/rand"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func TestStatus_JudgesAllNodesTogether(t *testing.T) {
	well := func(n *node) {
		n.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy, Version: "1.2.3"}
		n.answers["GET /api/v1/overwatch/conditions"] = api.ConditionList{}
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
			n.answers["GET /api/v1/overwatch/conditions"] = api.ConditionList{Conditions: []api.Condition{
				{Kind: api.DNSSilent, Severity: api.SeverityUnhealthy, Sentence: "the DNS server does not answer yet",
					Command: "gslbctl health"}}}
		}, 1},
		{"one lets us see its health only", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overwatch/stats"] = &api.Error{Status: 403,
				Message: "127.0.0.1 is not in api.allowed_networks"}
		}, 1},
		{"a drain in force", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overwatch/conditions"] = api.ConditionList{
				Conditions: fakeConditions().Conditions[1:]}
		}, 0},
		{"what was decided has no effect", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/replication"] = api.Replication{Enabled: true,
				Peers: []api.ReplicationPeer{{NodeID: "ns2", Connected: true}, {NodeID: "ns3"}}, UnusedTotal: 2,
				Refused: []api.ReplicationRefused{{Kind: "domain", Name: "a.example.com", Reason: "no zone"}}}
		}, 0},
		{"one does not replicate yet", well, func(n *node) {
			well(n)
			delete(n.answers, "GET /api/v1/replication")
		}, 0},
		{"they differ", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overrides"] = api.OverrideList{}
		}, 1},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		tc.first(nodes[0])
		tc.second(nodes[1])
		r := ask(t, "status", nodes...)
		if r.code != tc.code || r.errors != "" {
			t.Errorf("%s: exit code %d, %s", tc.name, r.code, r.errors)
		}
		golden(t, "status, "+tc.name, r.out)
	}
}

func TestStatus_ManyProblemsStayOnOneScreen(t *testing.T) {
	n := startNode(t)
	n.setOrders(api.OrderDrain)
	var many api.ConditionList
	for range 504 {
		many.Conditions = append(many.Conditions, api.Condition{Sentence: rand.Text(), Command: "c"})
	}
	many.Total = len(many.Conditions)
	n.answers["GET /api/v1/overwatch/conditions"] = many
	r := ask(t, "status", n)
	if strings.Count(r.out, "\n  - ") != maxProblems+1 || !strings.Contains(r.out, "504 things need attention") ||
		!strings.Contains(r.out, "and 484 more") {
		t.Errorf("%s", r.out)
	}
}

func TestStatus_NodeWithoutAnswerDegradesAndAllWithoutAreUnreachable(t *testing.T) {
	n := startNode(t)
	gone := dead(t)
	r := call(t, cmdline.System{}, []*node{n}, "status", "--api", documented(0), "--api", gone)
	if r.code != 1 || !strings.Contains(r.out, "no answer") ||
		!strings.Contains(r.out, "nothing listens on http://"+gone) {
		t.Errorf("one of two: %+v", r)
	}
	for _, args := range [][]string{{"status", "--api", gone}, {"status", "--api", gone, "--api", dead(t)},
		{"health", "--api", gone}} {
		if r := call(t, cmdline.System{}, nil, args...); r.code != 2 || r.out != "" || r.errors == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// TestStatus_WordAndExitCodeFollowTheTableOfConditions holds for every kind that a node may tell.
func TestStatus_WordAndExitCodeFollowTheTableOfConditions(t *testing.T) {
	for _, kind := range api.ConditionTypes() {
		n := startNode(t)
		n.setOrders(api.OrderDrain)
		status, head, code := api.ServiceHealthy, "attention: 1\n", 0
		switch kind.Severity {
		case api.SeverityDegraded:
			status, head, code = api.ServiceDegraded, "degraded: 1 thing needs attention\n", 1
		case api.SeverityUnhealthy:
			status, head, code = api.ServiceUnhealthy, "unhealthy: 1 thing needs attention\n", 1
		}
		n.answers["GET /api/health"] = api.Health{Status: status}
		n.answers["GET /api/v1/overwatch/conditions"] = api.ConditionList{Conditions: []api.Condition{
			{Kind: kind.Kind, Severity: kind.Severity, Sentence: "what is so", Command: "gslbctl mend"}}}
		r := ask(t, "status", n)
		if r.code != code || !strings.HasSuffix(r.out, "\n"+head+"  - what is so (gslbctl mend)\n") {
			t.Errorf("%s: %+v", kind.Kind, r)
		}
	}
}
