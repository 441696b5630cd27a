package cli // inside: it shares fake_test.go

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
)

// Each command with a usual verb also has the other verbs for the same action, and no two commands share a name.
func TestVerbs_HaveAliases(t *testing.T) {
	root := newApp(cmdline.System{}).rootCommand()
	for line, path := range map[string]string{
		"servers update x": "servers set", "servers change x": "servers set", "servers modify x": "servers set",
		"servers delete x": "servers remove", "servers rm x": "servers remove", "servers create x": "servers add",
		"domains ls": "domains list", "domains get x": "domains show", "domains describe x": "domains show",
		"context remove x": "context delete", "regions update x": "regions set", "overrides unset x": "overrides clear",
		"explain x": "why", "config get dns": "config show", "agents delete x": "agents remove",
		"agents deregister x": "agents remove", "overrides update x": "overrides set",
	} {
		cmd, _, err := root.Find(strings.Fields(line))
		if err != nil || cmd.CommandPath() != "gslbctl "+path {
			t.Errorf("%s is %v (%v), want %s", line, cmd.CommandPath(), err, path)
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		seen := map[string]bool{}
		for _, child := range cmd.Commands() {
			for _, name := range append([]string{child.Name()}, child.Aliases...) {
				if seen[name] {
					t.Errorf("%s has two commands %s", cmd.CommandPath(), name)
				}
				seen[name] = true
			}
			walk(child)
		}
	}
	walk(root)
}

// The help of a command that does not exist is an error, not the help of its parent.
func TestHelp_RejectsUnknownCommands(t *testing.T) {
	for line, words := range map[string]string{
		"servers updat --help":    `unknown command "updat" for gslbctl servers`,
		"drain list --help":       `gslbctl drain has no subcommand "list"`,
		"help drain list":         `gslbctl drain has no subcommand "list"`,
		"help servers updat":      `unknown command "updat" for gslbctl servers`,
		"help nothing":            `unknown command "nothing" for gslbctl`,
		"nothing --help":          `unknown command "nothing" for gslbctl`,
		"dnssec rollovr x --help": `unknown command "rollovr"`,
	} {
		r := call(t, cmdline.System{}, nil, strings.Fields(line)...)
		if r.code != fleet.NotAsked || r.out != "" || !strings.Contains(r.errors, words) {
			t.Errorf("%s: %+v, want %q", line, r, words)
		}
	}
	for _, line := range []string{"servers update --help", "drain 192.0.2.10 --help", "help servers set", "--help", "help",
		"servers --help", "weight shop.example.com --help"} {
		if r := call(t, cmdline.System{}, nil, strings.Fields(line)...); r.code != 0 ||
			!strings.Contains(r.out, "Usage:") {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// A service and an address as two arguments are the same as one argument with a colon.
func TestBackends_CanBeTwoArguments(t *testing.T) {
	for _, line := range []string{"drain % 192.0.2.10:443", "undrain % 192.0.2.10:443", "drain % --region eu --yes",
		"servers set % 192.0.2.12:443 --weight 5", "servers rm % 192.0.2.12:443 --yes",
		"servers reset % 192.0.2.13:443 --yes", "servers check % 192.0.2.12:443 --path /up",
		"servers update % lb.example.net:443 --weight 5"} {
		two := strings.Replace(line, "%", "app.example.com", 1)
		one := strings.Replace(line, "% ", "app.example.com:", 1)
		if strings.Contains(line, "--region eu") {
			one = "drain eu --service app.example.com. --yes"
		}
		var sent [2][]string
		var results [2]result
		for i, line := range []string{one, two} {
			n, _, _ := twoAt(t)
			n.obeys = true
			n.answers["GET /api/v1/overwatch/orders"] = api.OrderList{Orders: []api.Order{{Kind: api.OrderDrain,
				Service: "app.example.com", Address: "192.0.2.10:443", InForce: true}}}
			results[i] = ask(t, line, n)
			sent[i] = n.changes()
		}
		if results[0].code != 0 || len(sent[0]) == 0 || !slices.Equal(sent[0], sent[1]) ||
			results[0].code != results[1].code {
			t.Errorf("%s: %+v %q, %s: %+v %q", one, results[0], sent[0], two, results[1], sent[1])
		}
	}
	for line, words := range map[string]string{
		"drain 192.0.2.10 192.0.2.11":              "two backends",
		"servers set app.example.com 192.0.2.x":    "not an address",
		"drain list":                               "gslbctl orders lists drains",
		"drain a b c":                              "does not fit",
		"drain app.example.com:192.0.2.10 1.2.3.4": "two backends",
	} {
		n := startNode(t)
		if r := ask(t, line+map[bool]string{true: " --weight 5"}[strings.HasPrefix(line, "servers")], n); r.code != 2 ||
			!strings.Contains(r.errors, words) || len(n.changes()) > 0 {
			t.Errorf("%s: %+v %q", line, r, n.changes())
		}
	}
}

// drain --region --service drains only the backends of the service in the region.
func TestDrain_OneServiceInARegion(t *testing.T) {
	n := startNode(t)
	other := fakeBackend("192.0.2.99", 443, "", "eu")
	other.ID, other.Service = "other.example.com:192.0.2.99:443", "other.example.com"
	n.answers["GET /api/v1/overwatch/backends"] = api.BackendList{Backends: []api.Backend{
		fakeBackend("192.0.2.10", 443, "", "eu"), fakeBackend("192.0.2.11", 443, "", "us"), other}}
	n.obeys = true
	r := ask(t, "drain --region eu --service app.example.com --for 1h --yes", n)
	if sent := n.changes(); r.code != 0 || len(sent) != 1 ||
		!strings.HasPrefix(sent[0], "POST /api/v1/servers/app.example.com:192.0.2.10:443/drain") ||
		!strings.Contains(sent[0], `"expires_in":"1h0m0s"`) {
		t.Errorf("%+v, %q", r, sent)
	}
	for _, asked := range n.asked {
		if strings.Contains(asked, "consequences") && strings.Contains(asked, "regions") {
			t.Errorf("asked for the consequences of the whole region: %s", asked)
		}
	}
	r = ask(t, "drain --region us --service other.example.com", n)
	if r.code != 1 || !strings.Contains(r.errors, "no node knows a backend of other.example.com in us") ||
		len(n.changes()) != 1 {
		t.Errorf("%+v", r)
	}
}

// undo with an id finds the node with this audit entry.
func TestUndo_FindsTheNodeOfTheEntry(t *testing.T) {
	entry := func(id uint64, what string) api.AuditOne {
		return api.AuditOne{Entry: api.AuditEntry{ID: id, Timestamp: now, Action: "drain", Resource: "server",
			ResourceID: what, Actor: "ops", ActorType: api.ActorUser, Status: api.AuditSuccess}}
	}
	nodes := startNodes(t, 3)
	for _, n := range nodes {
		n.answers["POST /api/v1/audit-logs/42/undo"] = api.Undone{Message: "undone"}
	}
	system := entry(42, "z")
	system.Entry.ActorType = api.ActorSystem
	nodes[0].answers["GET /api/v1/audit-logs/42"] = system
	nodes[1].answers["GET /api/v1/audit-logs/42"] = entry(42, "x")
	if r := ask(t, "undo 42", nodes...); r.code != 0 || !slices.Equal(sentTo(nodes), []int{0, 1, 0}) {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
	nodes[2].answers["GET /api/v1/audit-logs/42"] = entry(42, "y")
	r := ask(t, "undo 42", nodes...)
	if r.code != 1 || !slices.Equal(sentTo(nodes), []int{0, 1, 0}) ||
		!strings.Contains(r.errors, "gslbctl undo 42 --node "+documented(2)+" reverts drain of server y, by ops at ") {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
	for i, change := range []string{"c", "other"} { // two changes are ambiguous
		nodes[i+1].answers["POST /api/v1/audit-logs/42/undo?dry_run=true"] = api.Undone{Change: change}
	}
	if r := ask(t, "undo 42", nodes...); r.code != 1 || !strings.Contains(r.errors, "2 nodes have an entry 42") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "undo 42 --node "+documented(2), nodes...); r.code != 0 ||
		!slices.Equal(sentTo(nodes), []int{0, 1, 1}) {
		t.Errorf("%+v, %v", r, sentTo(nodes))
	}
	nodes[2].answers["POST /api/v1/audit-logs/42/undo?dry_run=true"] = api.Undone{Change: "c"}
	before := sentTo(nodes)
	if r := ask(t, "undo 42", nodes...); r.code != 0 || sentTo(nodes)[1] <= before[1] || sentTo(nodes)[2] <= before[2] {
		t.Errorf("one change on two nodes: %+v", r)
	}
	if r := ask(t, "undo 43", nodes...); r.code != 1 || !strings.Contains(r.errors, "nothing was changed") {
		t.Errorf("unknown: %+v", r)
	}
	if r := ask(t, "undo 42 --api "+dead(t), nodes[:2]...); r.code != 1 ||
		!strings.Contains(r.errors, "may have the entry") {
		t.Errorf("a silent node: %+v", r)
	}
}

// failback accepts a region, and names undrain for a drained region.
func TestFailback_AcceptsARegion(t *testing.T) {
	n := startNode(t)
	n.obeys = true
	n.answers["GET /api/v1/overwatch/failbacks"] = api.FailbackList{Total: 1, Failbacks: []api.PendingFailback{
		{Domain: "app.example.com", Region: "eu", CanServeSince: ago(0)}}}
	if r := ask(t, "failback EU", n); r.code != 0 || len(n.changes()) != 1 || !strings.Contains(n.changes()[0],
		"app.example.com") {
		t.Errorf("%+v %q", r, n.changes())
	}
	drained := fakeBackend("192.0.2.10", 443, "", "us")
	drained.Draining = true
	n.answers["GET /api/v1/overwatch/backends"] = api.BackendList{Backends: []api.Backend{drained}}
	if r := ask(t, "failback us", n); r.code != 1 || !strings.Contains(r.errors, "gslbctl undrain us") {
		t.Errorf("%+v", r)
	}
}

// dnssec roll explains that a zone has one key. dnssec ds and keys accept a zone.
func TestDNSSEC_AcceptsWhatOperatorsType(t *testing.T) {
	for _, flag := range []string{"--zsk", "--ksk"} {
		n := startNode(t)
		if r := ask(t, "dnssec rollover example.com "+flag, n); r.code != 2 || len(n.changes()) > 0 ||
			!strings.Contains(r.errors, "a zone has one key") {
			t.Errorf("%s: %+v", flag, r)
		}
	}
	n := startNode(t)
	all := ask(t, "dnssec ds", n)
	if r := ask(t, "dnssec ds EXAMPLE.com.", n); r != all || !strings.Contains(r.out, "34505 13 2") {
		t.Errorf("%+v, want %+v", r, all)
	}
	if r := ask(t, "dnssec ds example.org", n); r.code != 1 || !strings.Contains(r.errors, "no node has a DS record") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "dnssec keys example.org", n); r.code != 0 || strings.Contains(r.out, "34505") {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "dnssec keys example.com", n); r.code != 0 || !strings.Contains(r.out, "34505") {
		t.Errorf("%+v", r)
	}
}

// export --all contains the objects of the configuration file, and the settings.
func TestExport_AllHasTheObjectsOfTheFile(t *testing.T) {
	n := startNode(t)
	r := ask(t, "export --all", n)
	for _, words := range []string{"settings:", "health-check:", "regions:", "name: app.example.com", "source: config",
		"servers:", "mappings:"} {
		if !strings.Contains(r.out, words) {
			t.Errorf("%q is missing: %+v", words, r)
		}
	}
	if r.code != 0 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "export --all --owner x", n); r.code != 2 {
		t.Errorf("%+v", r)
	}
}

// why without a client explains the answers of the name on all nodes.
func TestWhy_ExplainsANameWithoutAClient(t *testing.T) {
	nodes := startNodes(t, 2)
	for _, n := range nodes {
		healthy, unhealthy := fakeBackends()
		n.answers["GET /api/v1/domains/app.example.com"] = api.DomainDetail{
			Domain: fakeDomain("app.example.com", "weighted", 30, 3, 2)}
		n.answers["GET /api/v1/overwatch/backends?service=app.example.com"] = api.BackendList{
			Backends: append(healthy, unhealthy)}
		n.answers["GET /api/v1/routing/answers?domain=app.example.com&query_type=AAAA"] = api.RoutingAnswerList{
			Answers: []api.RoutingAnswer{{Decision: api.RoutingNoData}}}
	}
	r := ask(t, "why app.example.com", nodes...)
	if r.code != 0 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "why_name", r.out)
	nodes[1].answers["GET /api/v1/routing/answers"] = api.RoutingAnswerList{Answers: []api.RoutingAnswer{
		{Everybody: true, Decision: api.RoutingNoBackend}}}
	if r := ask(t, "why app.example.com", nodes...); r.code != 1 || !strings.Contains(r.out, "no_healthy_backend") ||
		!strings.Contains(r.out, documented(1)) {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "why ap.example.com", nodes...); r.code != 1 || !strings.Contains(r.errors, "did you mean app") {
		t.Errorf("%+v", r)
	}
}

// diff with a name compares the answers of the nodes for this name. Rotated answers are equal.
func TestDiff_ComparesOneName(t *testing.T) {
	nodes := startNodes(t, 2)
	for _, n := range nodes {
		n.answers["GET /api/v1/routing/answers?domain=app.example.com&query_type=AAAA"] = api.RoutingAnswerList{
			Answers: []api.RoutingAnswer{{Decision: api.RoutingNoData}}}
	}
	at := []string{startZone(t, "tcp", "app.example.com. 30 A 192.0.2.10", "www.example.org. A 192.0.2.1"),
		startZone(t, "tcp", "app.example.com. 30 A 192.0.2.11", "www.example.org. A 192.0.2.2")}
	flags := " --dns " + at[0] + " --dns " + at[1]
	if r := ask(t, "diff app.example.com"+flags, nodes...); r.code != 0 ||
		r.out != "The 2 nodes return the same answers for app.example.com.\n" {
		t.Errorf("rotated: %+v", r)
	}
	if r := ask(t, "diff www.example.org"+flags, nodes...); r.code != 1 || !strings.Contains(r.out, "192.0.2.2") {
		t.Errorf("a name without a domain: %+v", r)
	}
	nodes[1].answers["GET /api/v1/routing/answers"] = api.RoutingAnswerList{Answers: []api.RoutingAnswer{
		{ClientRegion: "us", Decision: api.RoutingSuccess, TTL: 30, Addresses: []api.RoutingShare{
			{Address: "198.51.100.20", Share: 1}}}}}
	r := ask(t, "diff app.example.com"+flags, nodes...)
	if r.code != 1 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	golden(t, "diff_name", r.out)
	if r := ask(t, "diff app.example.com --parent 192.0.2.1", nodes...); r.code != 2 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "diff app.example.com", nodes[0]); r.code != 2 || !strings.Contains(r.errors, "name two or more") {
		t.Errorf("one node: %+v", r)
	}
}
