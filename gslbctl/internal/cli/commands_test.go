package cli // inside: it uses environmentNodes, outputName, outputWide and reason

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/gslbctl/internal/fleet"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// reads contains the read-only command lines, with their exit code.
var reads = []struct {
	args string
	code int
}{
	{"status", 1},
	{"health", 1},
	{"health servers", 0},
	{"health regions", 0},
	{"domains list", 0},
	{"domains show app.example.com", 0},
	{"servers list", 0},
	{"backends list", 0},
	{"backends list --status stale", 0},
	{"backends list --down", 0},
	{"backends list --service www.example.com", 0},
	{"backends validate", 0},
	{"overrides list", 0},
	{"orders", 0},
	{"brakes list", 0},
	{"failback", 0},
	{"notifications list", 0},
	{"agents list", 0},
	{"agents show eu-1", 0},
	{"agents show lab-7", 0},
	{"agents expiring", 0},
	{"agents locks", 0},
	{"audit list", 0},
	{"audit verify", 0},
	{"dnssec status", 0},
	{"dnssec ds", 0},
	{"dnssec keys", 0},
	{"dnssec rolls", 0},
	{"geo mappings", 0},
	{"tokens list", 0},
	{"tokens whoami", 0},
	{"records list", 0},
	{"geo test 203.0.113.7", 0},
	{"regions list", 0},
	{"regions show eu", 0},
	{"config show dns", 0},
	{"config overlays", 0},
	{"config show health-check", 0},
	{"config show logging", 0},
	{"config show system", 0},
	{"config show gossip", 0},
	{"gossip nodes", 0},
	{"preferences show", 0},
	{"routing test app.example.com --client 203.0.113.7 --ecs 198.51.100.0/24", 0},
	{"routing why 0-2", 0},
	{"routing answers app.example.com", 0},
	{"routing decisions", 0},
	{"routing flows", 0},
	{"routing algorithms", 0},
	{"metrics overview", 0},
	{"metrics node eu-1", 0},
	{"metrics region eu", 0},
	{"metrics routing", 0},
	{"metrics history", 0},
	{"metrics history --metrics error_rate,response_p99_ms --since 2h --resolution 5m", 0},
	{"nodes list", 0},
	{"nodes agents", 0},
	{"nodes show ow-1", 0},
	{"nodes certificate eu-1", 0},
	{"version --nodes", 0},
}

func TestReads_PrintTables(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, tc := range reads {
		r := ask(t, tc.args, nodes...)
		if r.code != tc.code || r.errors != "" {
			t.Errorf("%s: exit code %d, %s", tc.args, r.code, r.errors)
		}
		golden(t, tc.args, r.out)
	}
}

func TestReads_JSONAndYAMLSayTheSame(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, tc := range reads {
		line := func(format string) string {
			r := call(t, cmdline.System{Terminal: true}, nodes,
				append([]string{"--api", documented(0), "-o", format}, strings.Fields(tc.args)...)...)
			if r.code != tc.code || r.errors != "" {
				t.Errorf("%s -o %s: exit code %d, %s", tc.args, format, r.code, r.errors)
			}
			return r.out
		}
		asJSON, asYAML := line("json"), line("yaml")
		golden(t, tc.args+".json", asJSON)
		var fromJSON, fromYAML any
		if err := json.Unmarshal([]byte(asJSON), &fromJSON); err != nil {
			t.Errorf("%s: %v", tc.args, err)
		}
		if err := yaml.Unmarshal([]byte(asYAML), &fromYAML); err != nil {
			t.Errorf("%s: %v", tc.args, err)
		}
		want, _ := json.Marshal(fromJSON)
		got, _ := json.Marshal(fromYAML)
		if string(got) != string(want) {
			t.Errorf("%s: YAML says\n%s\nJSON says\n%s", tc.args, got, want)
		}
	}
}

func TestGroups_AloneDoWhatListDoes(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, args := range []string{"domains", "servers", "backends", "backends --status stale", "overrides", "agents"} {
		words := strings.Fields(args)
		alone := call(t, cmdline.System{}, nodes, append([]string{"--api", documented(0)}, words...)...)
		list := call(t, cmdline.System{}, nodes, append([]string{"--api", documented(0), words[0], "list"},
			words[1:]...)...)
		if alone != list || alone.out == "" {
			t.Errorf("%s: got\n%+v\nwant\n%+v", args, alone, list)
		}
	}
}

func TestOutputs_WideShowsMoreAndNameTheNamesAlone(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, args := range []string{"domains", "servers", "backends", "overrides", "agents", "agents expiring", "audit",
		"dnssec keys", "geo mappings", "regions", "nodes", "nodes agents", "gossip nodes", "health servers",
		"health regions"} {
		for _, format := range []string{cmdline.Wide, cmdline.Name} {
			r := call(t, cmdline.System{}, nodes, append([]string{"--api", documented(0), "-o", format},
				strings.Fields(args)...)...)
			if r.code != 0 || r.errors != "" {
				t.Errorf("%s -o %s: %+v", args, format, r)
			}
			golden(t, args+"."+format, r.out)
		}
	}
}

func TestTables_FitTheTerminalAndNothingElseIsCut(t *testing.T) {
	nodes := []*node{startNode(t)}
	say := func(terminal bool, width int, args string) string {
		sys := cmdline.System{Terminal: terminal, Width: func() int { return width },
			Getenv: func(key string) string { return map[string]string{"NO_COLOR": "1"}[key] }}
		r := call(t, sys, nodes, append([]string{"--api", documented(0)}, strings.Fields(args)...)...)
		if r.code != 0 || r.errors != "" {
			t.Errorf("%s: %+v", args, r)
		}
		return r.out
	}
	tables := map[int]string{} // by the width of the terminal
	for _, args := range []string{"backends", "agents", "servers", "nodes", "nodes agents", "gossip nodes",
		"health servers", "overrides", "audit", "regions", "domains"} {
		for _, width := range []int{80, 100, 200} {
			got := say(true, width, args)
			tables[width] += "gslbctl " + args + "\n" + got + "\n"
			for line := range strings.Lines(got) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s: %d columns on a terminal of %d: %s", args, n, width, line)
				}
			}
		}
		if say(false, 80, args) != say(true, 0, args) {
			t.Errorf("%s: a pipe, or a terminal that does not tell its width, has a table of its own", args)
		}
		for _, format := range []string{cmdline.Wide, cmdline.Name, cmdline.JSON, cmdline.YAML} {
			if args := args + " -o " + format; say(true, 80, args) != say(false, 0, args) {
				t.Errorf("%s: the width of the terminal changes it", args)
			}
		}
	}
	for width, text := range tables {
		golden(t, fmt.Sprintf("terminal.%d", width), text)
	}
}

func TestColour_OnlyOnATerminalThatWantsIt(t *testing.T) {
	nodes := []*node{startNode(t)}
	for name, tc := range map[string]struct {
		terminal bool
		env      map[string]string
		format   string
		want     bool
	}{
		"terminal":    {true, nil, "table", true},
		"pipe":        {false, nil, "table", false},
		"NO_COLOR":    {true, map[string]string{"NO_COLOR": "1"}, "table", false},
		"no NO_COLOR": {true, map[string]string{"NO_COLOR": ""}, "table", true},
		"dumb":        {true, map[string]string{"TERM": "dumb"}, "table", false},
		"json":        {true, nil, "json", false},
		"yaml":        {true, nil, "yaml", false},
	} {
		for _, command := range []string{"status", "health", "backends"} {
			r := call(t, cmdline.System{Terminal: tc.terminal, Getenv: func(key string) string { return tc.env[key] }},
				nodes, "--api",
				documented(0), "-o", tc.format, command)
			if strings.Contains(r.out, "\x1b[") != tc.want {
				t.Errorf("%s, %s: %q", name, command, r.out)
			}
		}
	}
}

func TestNodes_AreNamedByFlagThenEnvironmentThenDefault(t *testing.T) {
	n := startNode(t)
	env := func(value string) cmdline.System {
		return cmdline.System{Getenv: func(key string) string {
			if key == fleet.EnvNodes {
				return value
			}
			return ""
		}}
	}
	address := strings.TrimPrefix(n.url, "http://")
	if r := call(t, env(address), nil, "servers"); r.code != 0 {
		t.Errorf("by environment: %+v", r)
	}
	if r := call(t, env(dead(t)+", "+address), nil, "servers"); r.code != 0 {
		t.Errorf("by environment, the second answers: %+v", r)
	}
	if r := call(t, env(dead(t)), nil, "--api", address, "servers"); r.code != 0 {
		t.Errorf("the flag comes first: %+v", r)
	}
	if r := call(t, env(""), nil, "--api", n.url+"/", "--api", address, "agents", "unpin", "eu-1",
		"--yes"); r.code != 0 ||
		len(n.changes()) != 1 {
		t.Errorf("one node by two names: %+v, %q", r, n.changes())
	}
}

func TestRead_AsksTheFirstNodeThatAnswers(t *testing.T) {
	n := startNode(t)
	first := startNode(t)
	first.answers["GET /api/v1/servers"] = &api.Error{Status: 403, Message: "127.0.0.1 is not in api.allowed_networks"}
	if r := call(t, cmdline.System{}, []*node{n}, "--api", dead(t), "--api", documented(0), "servers"); r.code != 0 {
		t.Errorf("the first is dead: %+v", r)
	}
	r := ask(t, "servers", first, n)
	if r.code != 1 || !strings.Contains(r.errors, "127.0.0.1:18080 answered 403") || len(n.asked) != 1 {
		t.Errorf("a refusal is an answer: %+v", r)
	}
	r = call(t, cmdline.System{}, nil, "--api", dead(t), "--api", dead(t), "servers")
	if r.code != 2 || !strings.Contains(r.errors, "none of 2 nodes answers") {
		t.Errorf("none answers: %+v", r)
	}
}

func TestVersion_WorksWithoutANode(t *testing.T) {
	r := call(t, cmdline.System{}, nil, "version")
	if r.code != 0 || !strings.Contains(r.out, "gslbctl  1.2.3    0123456789ab  2026-01-01T00:00:00Z  go1.26") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, cmdline.System{}, nil, "--version"); r.code != 0 || r.out != "gslbctl 1.2.3\n" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, cmdline.System{}, nil, "version", "--nodes", "--api", dead(t)); r.code != 0 ||
		!strings.Contains(r.out, "no answer") {
		t.Errorf("got %+v", r)
	}
}

func TestCompletion_OffersLiveNames(t *testing.T) {
	nodes := []*node{startNode(t)}
	for args, want := range map[string]string{
		"agents show ":             "eu-1 lab-7 us-1",
		"agents unpin ":            "eu-1 lab-7 us-1",
		"agents show eu-1 ":        "",
		"domains show ":            "app.example.com www.example.com",
		"backends list --service ": "app.example.com www.example.com",
		"backends list --region ":  "eu us",
		"backends list --status ":  "healthy unhealthy stale",
		"overrides set ": "app.example.com:192.0.2.10:443 app.example.com:192.0.2.11:443 " +
			"app.example.com:198.51.100.20:443 www.example.com:2001:db8::1:443 app.example.com www.example.com",
		"overrides set www.example.com ":         "[2001:db8::1]:443",
		"overrides set www.example.com 1 ":       "",
		"overrides clear ":                       "app.example.com:192.0.2.11:443 app.example.com",
		"overrides clear app.example.com ":       "192.0.2.11:443",
		"overrides clear app.example.com x ":     "",
		"backends --region ":                     "eu us",
		"servers add ":                           "app.example.com www.example.com",
		"servers set x --region ":                "eu us",
		"domains set x --policy ":                "round-robin weighted",
		"domains add x --fallback ":              "round-robin weighted",
		"routing decisions --algorithm ":         "round-robin weighted",
		"routing flows --source ":                "eu us",
		"agents unpin --service ":                "app.example.com www.example.com",
		"servers -o ":                            "table wide name json yaml",
		"backends override set www.example.com ": "[2001:db8::1]:443",
	} {
		words := append(append([]string{"__complete", "--api", documented(0)}, strings.Fields(args)...), "")
		r := call(t, cmdline.System{}, nodes, words...)
		offered := strings.Fields(strings.Split("\n"+r.out, "\n:4")[0])
		if r.code != 0 || strings.Join(offered, " ") != want {
			t.Errorf("%s: offers %q, want %q (%+v)", args, offered, want, r)
		}
	}
	if r := call(t, cmdline.System{}, nil, "__complete", "routing", "test", "--client"); !strings.Contains(r.out,
		"--client\taddress of a resolver") {
		t.Errorf("what a flag is for has marks in it: %q", r.out)
	}
	if r := call(t, cmdline.System{}, nil, "__complete", "--api", dead(t), "agents", "show", ""); r.code != 0 ||
		strings.Contains(r.out, "eu-1") {
		t.Errorf("without a node: %+v", r)
	}
}

// The completion of each shell registers itself and calls gslbctl. A shell on this machine checks the syntax.
func TestCompletion_IsAScriptOfItsShell(t *testing.T) {
	for shell, registers := range map[string]string{"bash": "complete -o default -F __start_gslbctl gslbctl",
		"zsh": "#compdef gslbctl", "fish": "complete -c gslbctl "} {
		r := call(t, cmdline.System{}, nil, "completion", shell)
		if r.code != 0 || !strings.Contains(r.out, registers) || !strings.Contains(r.out, "__complete") {
			t.Errorf("%s: exit code %d, want %q and a call of __complete in\n%s", shell, r.code, registers, r.out)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), path, "-n", "/dev/stdin")
		cmd.Stdin = strings.NewReader(r.out)
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, output)
		}
	}
}

func TestKeygen_MakesFreshSecretsWithoutANode(t *testing.T) {
	for args, length := range map[string]int{"keygen gossip": 44, "keygen token": 52} {
		first, second := call(t, cmdline.System{}, nil, strings.Fields(args)...), call(t, cmdline.System{}, nil,
			strings.Fields(args)...)
		if first.code != 0 || len(first.out) != length+1 || first.out == second.out {
			t.Errorf("%s: %+v, %+v", args, first, second)
		}
	}
}

// The table shows the omitted parts of an agent's check after the reason of the backend's status.
func TestReason_SaysWhatTheAgentJudgesAlone(t *testing.T) {
	b := api.Backend{Reason: "no check result yet", ValidationError: pointer("refused")}
	if got := reason(b); got != "no check result yet; last own check: refused" {
		t.Error(got)
	}
	b.Reason, b.ValidationHealthy = "the agent reports unhealthy", pointer(false)
	if got := reason(b); got != "the agent reports unhealthy: refused" {
		t.Error(got)
	}
	b.ValidationNote = pointer("only its agent decides expect")
	if got := reason(b); got != "the agent reports unhealthy: refused; only its agent decides expect" {
		t.Error(got)
	}
}

// A tag filters the list of regions.
func TestRegions_AreListedByTag(t *testing.T) {
	n := startNode(t)
	n.set("GET /api/v1/regions", api.RegionList{Total: 2, Regions: []api.Region{
		{ID: "eu", Region: model.Region{Tags: []string{"prod"}}}, {ID: "us"}}})
	if r := ask(t, "regions list --tag prod -o name", n); r.code != 0 || strings.TrimSpace(r.out) != "eu" {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "regions list --tag none", n); r.code != 0 || !strings.Contains(r.out, "No region has the tag none") {
		t.Errorf("%+v", r)
	}
}

// A tag filters the list of domains. Completion offers the existing tags. For an unknown tag, the message names similar
// tags.
func TestDomainsList_ByTag(t *testing.T) {
	n := startNode(t)
	tagged := func(name string, tags ...string) api.Domain {
		return api.Domain{ID: name, RoutingPolicy: "weighted", Domain: model.Domain{Name: name,
			RoutingAlgorithm: "weighted", Tags: tags}}
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
	r := call(t, cmdline.System{}, nodes, "__complete", "--api", documented(0), "domains", "list", "--tag", "")
	if got := strings.Fields(strings.Split(r.out, "\n:4")[0]); strings.Join(got, " ") != "money prod" {
		t.Errorf("offered are %v (%+v)", got, r)
	}
}

func TestGossipGenerateKey_PrintsTheKeyAloneSoThatAScriptCanTakeIt(t *testing.T) {
	n := startNode(t)
	r := call(t, cmdline.System{}, []*node{n}, "--api", n.url, "gossip", "generate-key")
	if r.code != 0 || r.out != "a2V5\n" { // standard error has a note, since the name is old
		t.Errorf("got %+v", r)
	}
	if asked := n.changes(); len(asked) != 1 || asked[0] != "POST /api/v1/gossip/generate-key" {
		t.Errorf("asked %q", asked)
	}
}

func TestServersCheck_ShowsHowAServerIsChecked(t *testing.T) {
	n := startNode(t)
	r := call(t, cmdline.System{}, []*node{n}, "--api", n.url, "servers", "check", "app.example.com:192.0.2.12:443")
	if r.code != 0 || r.errors != "" || len(n.changes()) != 0 ||
		!strings.Contains(r.out, "yes      http  /up   5s     1s ") {
		t.Errorf("got %+v after %q", r, n.changes())
	}
}
