package cli // inside: it uses nothingChanged

import (
	"os"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

const shopFile = "domains:\n  - {name: shop.example.com, ttl: 30}\n  - {name: www.example.com}\n"

func wholeDocument() api.Document {
	return api.Document{Domains: []api.DocumentDomain{
		{"name": "shop.example.com", "ttl": 30, "owner": "shop"},
		{"name": "www.example.com"},
	}}
}

func documentPlan(applied bool) api.Plan {
	return api.Plan{Applied: applied, Unchanged: 1, Force: []string{}, GeneratedAt: now,
		Changes: []api.PlanChange{{Action: api.PlanUpdate, Kind: "domain", ID: "shop.example.com", Owner: "shop",
			Fields: []api.PlanField{{Name: "ttl", Before: "60", After: "30"}}}},
		Answers: api.PlanAnswers{Counted: 4000, Total: 12345, ElsewherePercent: 8.1,
			Moves: []api.PlanMove{{From: "eu", To: "us", Percent: 6}, {From: "us", To: "eu", Percent: 2.1}},
			Names: []api.PlanName{
				{Name: "shop.example.com", QueryType: "A", Before: []api.RoutingShare{{Address: "192.0.2.1",
					Share: 1}}},
			},
			Losses: []api.Consequence{}, Unused: []string{"shop.example.com:192.0.2.9:80"}},
	}
}

// inFolder creates a directory with shop.yaml and makes it the working directory.
func inFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("shop.yaml", []byte(shopFile), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPlan_SaysWhatBecomesOfAnswersAndEndsWith3(t *testing.T) {
	inFolder(t)
	n := startNode(t)
	r := ask(t, "plan -f shop.yaml", n)
	for _, words := range []string{"ttl 60 -> 30", "shop.example.com A: 192.0.2.1 100.0 % -> nothing",
		"Of the last hour's 12345 answers 8.1 % move to another region: 6.0 % eu -> us, 2.1 % us -> eu.",
		"no client would be sent to shop.example.com:192.0.2.9:80", "0 to create, 1 to change, 0 to delete, 1 " +
			"unchanged."} {
		if !strings.Contains(r.out, words) {
			t.Errorf("it does not say %q: %+v", words, r)
		}
	}
	if r.code != 3 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "plan --config shop.yaml", n); r.code != 3 ||
		!strings.Contains(n.changes()[1], "POST /api/v1/config/plan") {
		t.Errorf("of a configuration: %+v, %v", r, n.changes())
	}
	if r := call(t, cmdline.System{}, []*node{n}, "plan", "--config", "shop.yaml", "--api",
		"ow1.example.net"); r.code != 2 ||
		!strings.Contains(r.errors, "unencrypted") {
		t.Errorf("its secrets would cross the network: %+v", r)
	}
	if r := ask(t, "plan", n); r.code != 2 || !strings.Contains(r.errors, "--file is missing") {
		t.Errorf("without a document: %+v", r)
	}
	nothing := documentPlan(false)
	nothing.Changes = nil
	n.answers["POST /api/v1/document/plan"] = nothing
	if r := ask(t, "plan -f shop.yaml", n); r.code != 0 || !strings.HasPrefix(r.out, "Nothing to do") {
		t.Errorf("nothing to do: %+v", r)
	}
}

func TestApply_GoesToEveryNodeAndSaysWhichRefuses(t *testing.T) {
	inFolder(t)
	nodes := []*node{startNode(t), startNode(t)}
	apis := []string{"--api", documented(0), "--api", documented(1)}
	run := func(args ...string) result {
		return call(t, cmdline.System{}, nodes, append(append([]string{"apply", "-f", "shop.yaml"}, args...),
			apis...)...)
	}
	if r := run("--owner", "shop"); r.code != 0 || strings.Count(r.out, "Done: 0 created, 1 changed") != 1 {
		t.Errorf("%+v", r)
	}
	for i, n := range nodes {
		if list := n.changes(); len(list) != 1 || !strings.Contains(list[0], `"owner":"shop"`) {
			t.Errorf("node %d was asked %v", i, list)
		}
	}
	if r := run("--dry-run"); r.code != 0 || !strings.Contains(r.out, "1 to change") || len(nodes[0].changes()) != 2 ||
		!strings.HasPrefix(nodes[0].changes()[1], "POST /api/v1/document/plan") {
		t.Errorf("a dry run: %+v, %v", r, nodes[0].changes())
	}
	refused := &api.Error{Status: 400, Message: "no",
		Problems: []api.DocumentProblem{{Object: "domains[1]", Problem: "ttl is 0"}}}
	nodes[1].answers["POST /api/v1/document/apply"] = refused
	if r := run(); r.code != 1 || !strings.Contains(r.errors, "done on 1 of 2 nodes") ||
		!strings.Contains(r.errors, "shop.yaml:3:5: domains[1]: ttl is 0") {
		t.Errorf("one refuses: %+v", r)
	}
	nodes[0].answers["POST /api/v1/document/apply"] = refused
	if r := run(); r.code != 2 || r.out != "" || !strings.Contains(r.errors, "shop.yaml:3:5: domains[1]: ttl is 0") ||
		!strings.Contains(r.errors, fleet.NothingChanged) {
		t.Errorf("both refuse: %+v", r)
	}
}

func TestExport_PrintsWhatApplyTakes(t *testing.T) {
	inFolder(t)
	n := startNode(t)
	r := ask(t, "export", n)
	if r.code != 0 || !strings.Contains(r.out, "domains:\n") || !strings.Contains(r.out, "owner: shop") {
		t.Fatalf("%+v", r)
	}
	if err := os.WriteFile("shop.yaml", []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, "apply -f shop.yaml", n); r.code != 0 {
		t.Errorf("what it printed: %+v", r)
	}
	if r := ask(t, "export --owner shop", n); r.code != 0 || strings.Contains(r.out, "www.example.com") {
		t.Errorf("of one owner: %+v", r)
	}
}

func TestApply_GoesToOneNodeWhereNodesCarryItOn(t *testing.T) {
	inFolder(t)
	nodes := startNodes(t, 3)
	replicating(nodes, 0, false)
	r := ask(t, "apply -f shop.yaml", nodes...)
	if r.code != 0 || !strings.Contains(r.out, "Done: 0 created, 1 changed") ||
		!strings.Contains(r.out, "ns2, ns3: has the change") {
		t.Errorf("%+v", r)
	}
	if counts := sentTo(nodes); counts[0] != 1 || counts[1]+counts[2] != 0 {
		t.Errorf("sent to %v", counts)
	}
	replicating(nodes, 1, true)
	r = ask(t, "apply -f shop.yaml --all-nodes", nodes...)
	if r.code != 1 || !strings.Contains(r.out, "is down: it receives the change when it is back") {
		t.Errorf("--all-nodes, and two are down: %+v", r)
	}
}
