package cli // inside: it shares fake_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

func TestDiff_ShowsWhatNodesSayDifferently(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	args := []string{"diff", "--api", documented(0), "--api", documented(1)}
	if r := call(t, System{}, nodes, args...); r.code != 0 || r.out != "The 2 nodes say the same.\n" {
		t.Errorf("%+v", r)
	}
	nodes[1].answers["GET /api/v1/overrides"] = api.OverrideList{}
	nodes[1].answers["GET /api/v1/domains"] = api.DomainList{Total: 2,
		Domains: []api.Domain{{Name: "app.example.com", RoutingPolicy: "weighted", TTL: 300, Enabled: true},
			{Name: "new.example.com"}}}
	nodes[1].answers["GET /api/v1/dnssec/status"] = api.DNSSECStatus{}
	agents := fakeAgents()
	agents[0].Fingerprint = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	nodes[1].answers["GET /api/v1/overwatch/agents"] = api.AgentList{Agents: agents, Total: len(agents)}
	r := call(t, System{}, nodes, args...)
	if r.code != 1 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "diff", r.out)
	if r := call(t, System{}, nodes, "diff", "--api", documented(0), "--api", dead(t)); r.code != 2 || r.out != "" ||
		!strings.Contains(r.errors, "nothing can be compared: nothing listens") {
		t.Errorf("one is gone: %+v", r)
	}
	// Without the third, the others are compared all the same, and that it is missing is told.
	three := append(args, "--api", dead(t))
	if other := call(t, System{}, nodes, three...); other.code != 1 || other.out != r.out ||
		!strings.Contains(other.errors, "not compared: nothing listens") {
		t.Errorf("one of three is gone: %+v", other)
	}
	if other := call(t, System{}, nodes, append([]string{"-o", "json"}, three...)...); !strings.Contains(other.out,
		`"unasked": {`) {
		t.Errorf("one of three is gone: %+v", other)
	}
	nodes[1].answers["GET /api/v1/servers"] = &api.Error{Status: 401, Message: "this needs a token"}
	if r := call(t, System{}, nodes, args...); r.code != 2 ||
		!strings.Contains(r.errors, "nothing can be compared: "+"http://"+documented(1)) {
		t.Errorf("one refuses: %+v", r)
	}
}
