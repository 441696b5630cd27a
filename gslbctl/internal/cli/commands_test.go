package cli

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"gslb.internal/shared/api"
)

// reads are the command lines that only look, with their exit code.
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
	{"backends list --service www.example.com", 0},
	{"backends validate", 0},
	{"overrides list", 0},
	{"agents list", 0},
	{"agents show eu-1", 0},
	{"agents show lab-7", 0},
	{"agents expiring", 0},
	{"audit list", 0},
	{"audit verify", 0},
	{"dnssec status", 0},
	{"dnssec ds", 0},
	{"dnssec keys", 0},
	{"geo mappings", 0},
	{"geo test 203.0.113.7", 0},
	{"regions list", 0},
	{"regions show eu", 0},
	{"config show dns", 0},
	{"config show health-check", 0},
	{"config show logging", 0},
	{"config show system", 0},
	{"gossip config", 0},
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
	{"nodes overwatch", 0},
	{"nodes agents", 0},
	{"nodes show ow-1", 0},
	{"nodes certificate eu-1", 0},
	{"version --nodes", 0},
}

func TestReads_PrintTables(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, tc := range reads {
		r := call(t, System{}, nodes, append([]string{"--api", documented(0)}, strings.Fields(tc.args)...)...)
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
			r := call(t, System{Terminal: true}, nodes, append([]string{"--api", documented(0), "-o", format}, strings.Fields(tc.args)...)...)
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
		alone := call(t, System{}, nodes, append([]string{"--api", documented(0)}, words...)...)
		list := call(t, System{}, nodes, append([]string{"--api", documented(0), words[0], "list"}, words[1:]...)...)
		if alone != list || alone.out == "" {
			t.Errorf("%s: got\n%+v\nwant\n%+v", args, alone, list)
		}
	}
}

func TestOutputs_WideShowsMoreAndNameTheNamesAlone(t *testing.T) {
	nodes := []*node{startNode(t)}
	for _, args := range []string{"domains", "servers", "backends", "overrides", "agents", "agents expiring", "audit", "dnssec keys", "geo mappings", "regions", "nodes", "nodes agents", "gossip nodes", "health servers", "health regions"} {
		for _, format := range []string{outputWide, outputName} {
			r := call(t, System{}, nodes, append([]string{"--api", documented(0), "-o", format}, strings.Fields(args)...)...)
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
		sys := System{Terminal: terminal, Width: func() int { return width }, Getenv: func(key string) string { return map[string]string{"NO_COLOR": "1"}[key] }}
		r := call(t, sys, nodes, append([]string{"--api", documented(0)}, strings.Fields(args)...)...)
		if r.code != 0 || r.errors != "" {
			t.Errorf("%s: %+v", args, r)
		}
		return r.out
	}
	tables := map[int]string{} // by the width of the terminal
	for _, args := range []string{"backends", "agents", "servers", "nodes", "nodes agents", "gossip nodes", "health servers", "overrides", "audit", "regions", "domains"} {
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
		for _, format := range []string{outputWide, outputName, outputJSON, outputYAML} {
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
			r := call(t, System{Terminal: tc.terminal, Getenv: func(key string) string { return tc.env[key] }}, nodes, "--api", documented(0), "-o", tc.format, command)
			if strings.Contains(r.out, "\x1b[") != tc.want {
				t.Errorf("%s, %s: %q", name, command, r.out)
			}
		}
	}
}

func TestNodes_AreNamedByFlagThenEnvironmentThenDefault(t *testing.T) {
	n := startNode(t)
	env := func(value string) System {
		return System{Getenv: func(key string) string {
			if key == environmentNodes {
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
	if r := call(t, env(""), nil, "--api", n.url+"/", "--api", address, "agents", "unpin", "eu-1", "--yes"); r.code != 0 || len(n.changes()) != 1 {
		t.Errorf("one node by two names: %+v, %q", r, n.changes())
	}
}

// dead is an address at which nothing listens.
func dead(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(nil)
	srv.Close()
	return strings.TrimPrefix(srv.URL, "http://")
}

func TestRead_AsksTheFirstNodeThatAnswers(t *testing.T) {
	n := startNode(t)
	first := startNode(t)
	first.answers["GET /api/v1/servers"] = &api.Error{Status: 403, Message: "127.0.0.1 is not in api.allowed_networks"}
	if r := call(t, System{}, []*node{n}, "--api", dead(t), "--api", documented(0), "servers"); r.code != 0 {
		t.Errorf("the first is dead: %+v", r)
	}
	r := call(t, System{}, []*node{first, n}, "--api", documented(0), "--api", documented(1), "servers")
	if r.code != 1 || !strings.Contains(r.errors, "127.0.0.1:18080 answered 403") || len(n.asked) != 1 {
		t.Errorf("a refusal is an answer: %+v", r)
	}
	r = call(t, System{}, nil, "--api", dead(t), "--api", dead(t), "servers")
	if r.code != 2 || !strings.Contains(r.errors, "none of 2 nodes answers") {
		t.Errorf("none answers: %+v", r)
	}
}

func TestErrors_AreOneSentenceWithTheNextStep(t *testing.T) {
	n := startNode(t)
	nodes := []*node{n}
	for status, words := range map[int]string{
		403: "allowed_networks", 421: "by its address in --api", 500: "look there", 501: "newer version", 503: "try again", 507: "make room on the disk", 404: "answered 404: no",
	} {
		message := "no"
		if status == 403 {
			message = "192.0.2.1 is not in api.allowed_networks"
		}
		n.answers["GET /api/v1/servers"] = &api.Error{Status: status, Message: message}
		r := call(t, System{}, nodes, "--api", documented(0), "servers")
		if r.code != 1 || r.out != "" || !strings.HasPrefix(r.errors, "gslbctl: http://127.0.0.1:18080 answered ") || !strings.Contains(r.errors, words) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%d: %+v", status, r)
		}
	}
	for message, words := range map[string]string{
		"this needs a token of role admin": "of role admin\n", // another network would not help
		"":                                 "no overwatch node answers so",
	} {
		n.answers["GET /api/v1/servers"] = &api.Error{Status: 403, Message: message}
		if r := call(t, System{}, nodes, "--api", documented(0), "servers"); r.code != 1 || !strings.Contains(r.errors, words) {
			t.Errorf("%q: %+v", message, r)
		}
	}
	for args, words := range map[string]string{
		"servers --api " + dead(t):                   "nothing listens on http://127.0.0.1",
		"servers --api ftp://x":                      `the scheme is "ftp"`,
		"servers -o xml":                             `--output is "xml": it must be one of table, wide, name, json, yaml`,
		"status -o name":                             "-o name is for lists, and gslbctl status is none",
		"agents unpin eu-1 -y -o name":               "-o name is for lists",
		"servers --timeout 0s":                       "--timeout is 0s",
		"servers --timeout soon":                     `--timeout is "soon": it must be a time with its unit`,
		"servers now":                                `unknown command "now" for gslbctl servers; gslbctl servers --help shows`,
		"server":                                     `unknown command "server" for gslbctl: did you mean servers?; gslbctl --help shows`,
		"servers lsit":                               "did you mean list or set?",
		"status now":                                 `"now" is too much: write gslbctl status; gslbctl status --help shows`,
		"servers add":                                "arguments are missing: write gslbctl servers add <service> <ip> <port> --region <region>; gslbctl servers add --help shows",
		"servers --bogus":                            "unknown flag: --bogus; gslbctl servers --help shows",
		"domains show a b":                           `"a b" does not fit: write gslbctl domains show <name>`,
		"completion tcsh":                            `unknown command "tcsh" for gslbctl completion`,
		"audit list --limit many":                    `--limit is "many": it must be a whole number`,
		"regions add x --latitude north":             `--latitude is "north": it must be a number`,
		"domains show":                               "write gslbctl domains show <name>",
		"agents show .. --api x":                     `".." cannot be a name`,
		"agents revoke eu-1":                         "needs --reason",
		"servers add a 192.0.2.1 80":                 "needs --region",
		"servers add a 192.0.2.1 x":                  "the port is",
		"servers set a:192.0.2.1:80":                 "nothing to change",
		"servers remove x":                           "add --yes",
		"domains set x":                              "nothing to change",
		"domains remove x":                           "add --yes",
		"agents unpin eu-1":                          "add --yes",
		"regions remove eu":                          "add --yes",
		"regions set eu":                             "nothing to change",
		"geo remove 10.1.0.0/16":                     "add --yes",
		"nodes deregister eu-1":                      "add --yes",
		"nodes reissue eu-1":                         "add --yes",
		"nodes revoke eu-1":                          "add --yes",
		"diff":                                       "name two or more",
		"config reset dns":                           "add --yes",
		"config reset system":                        "must be one of dns, gossip, health-check, logging",
		"config show nothing":                        "must be one of dns, gossip, health-check, logging, system",
		"config set system a=b":                      `no section "system" to change`,
		"config set dns x=1":                         `"x" cannot be changed: it must be one of default_ttl`,
		"config set dns default_ttl":                 "write key=value",
		"config set dns default_ttl=a":               `default_ttl is "a": it must be a number`,
		"config set dns default_ttl=1 default_ttl=2": `"default_ttl" is given twice`,
		"config set dns zones=[":                     "cannot be read",
		"config set dns zones.x=1":                   `"zones.x" cannot be changed`,
		"config set dns return_last_healthy=[1]":     `return_last_healthy is "[1]": it must be true or false`,
		"config validate /nowhere":                   "no such file",
		"config validate testdata/list.txt":          "testdata/list.txt: the key mode cannot be read: it must be a YAML file with mode: overwatch or mode: agent",
		"overrides set a b":                          "--healthy=true or --healthy=false, and --reason",
		"overrides set a b --healthy":                "--reason",
		"overrides set a b --healthy=maybe":          `--healthy is "maybe": it must be true or false`,
		"overrides set a b --reason r":               "--healthy",
		"overrides set a b --healthy --reason r --expires-in -5m": "--expires-in is -5m0s",
	} {
		r := call(t, System{}, nodes, strings.Fields(args)...)
		if r.code != 2 || r.out != "" || !strings.HasPrefix(r.errors, "gslbctl: ") || !strings.Contains(r.errors, words) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if list := n.changes(); len(list) != 0 {
		t.Errorf("something was changed: %q", list)
	}
}

func TestChanges_GoToAllNodes(t *testing.T) {
	for _, tc := range []struct{ args, sent, out string }{
		{"agents unpin eu-1 --yes", "DELETE /api/v1/overwatch/agents/eu-1", "the pin of eu-1 is deleted: it must prove its service token again"},
		{"agents revoke eu-1 --reason stolen -y", `POST /api/v1/overwatch/agents/eu-1/revoke  {"reason":"stolen"}`, "eu-1 is revoked: nothing that it says counts any more"},
		{"overrides set app.example.com 192.0.2.11:443 --healthy=false --reason r --expires-in 30m",
			`PUT /api/v1/overrides/app.example.com/192.0.2.11:443  {"healthy":false,"reason":"r","source":"gslbctl","expires_in":"30m0s"}`, "app.example.com 192.0.2.11:443 is unhealthy for 30m"},
		{"backends override set app.example.com 192.0.2.11:443 --healthy --reason r",
			`PUT /api/v1/overrides/app.example.com/192.0.2.11:443  {"healthy":true,"reason":"r","source":"gslbctl"}`, "app.example.com 192.0.2.11:443 is unhealthy for 30m"},
		{"domains add shop.example.com --ttl 20 --regions us,eu", `POST /api/v1/domains  {"name":"shop.example.com","ttl":20,"regions":["us","eu"]}`, "domain shop.example.com is answered"},
		{"domains set shop.example.com --policy latency --fallback weighted --min-healthy 50% --enabled=false --description x",
			`PATCH /api/v1/domains/shop.example.com  {"routing_policy":"latency","fallback_algorithm":"weighted","min_healthy":"50%","enabled":false,"description":"x"}`, "domain shop.example.com is changed"},
		{"domains remove shop.example.com -y", "DELETE /api/v1/domains/shop.example.com", "domain shop.example.com is removed"},
		{"regions add ap --continent AS --countries JP,KR --latitude 35.7 --longitude -139.7 --enabled=false --priority 3 --code ap1 --description x",
			`POST /api/v1/regions  {"name":"ap","code":"ap1","description":"x","latitude":35.7,"longitude":-139.7,"continent":"AS","countries":["JP","KR"],"enabled":false,"priority":3}`, "region ap is there"},
		{"regions set ap --priority 0", `PATCH /api/v1/regions/ap  {"priority":0}`, "region ap is changed"},
		{"regions remove ap -y", "DELETE /api/v1/regions/ap", "region ap is removed"},
		{"geo set 203.0.113.0/24 eu --comment office", `PUT /api/v1/geo/mappings  {"cidr":"203.0.113.0/24","region":"eu","comment":"office"}`, "clients of 203.0.113.0/24 are in eu"},
		{"geo remove 203.0.113.0/24 -y", "DELETE /api/v1/geo/mappings/203.0.113.0/24", "the mapping of 203.0.113.0/24 is gone"},
		{"config set dns default_ttl=60 zones=a.example,b.example return_last_healthy=true",
			`PATCH /api/v1/config/dns  {"default_ttl":60,"return_last_healthy":true,"zones":["a.example","b.example"]}`,
			"dns is changed: default_ttl=60, zones=a.example,b.example, return_last_healthy=true; only a restart changes dns.rate_limit"},
		{"config set health-check default_interval_seconds=2.5", `PATCH /api/v1/config/health-check  {"default_interval_seconds":2.5}`, "health-check is changed: default_interval_seconds=2.5"},
		{"config set logging level=debug", `PATCH /api/v1/config/logging  {"level":"debug"}`, "logging is changed: level=debug"},
		{"config set gossip seeds=", `PATCH /api/v1/gossip/config  {"seeds":[]}`, "gossip is changed: seeds="},
		{"config reset dns -y", "DELETE /api/v1/config/dns", "dns is as the file says"},
		{"config reset gossip -y", "DELETE /api/v1/gossip/config", "gossip is as the file says"},
		{`preferences set theme=dark custom_settings={"a":[1]}`, `PATCH /api/v1/preferences  {"theme":"dark","custom_settings":{"a":[1]}}`, `preferences is changed: theme=dark, custom_settings={"a":[1]}`},
		{"nodes announce eu-9 --region eu --address 192.0.2.9 --port 9100", `POST /api/v1/nodes/agent  {"name":"eu-9","address":"192.0.2.9","port":9100,"region":"eu"}`, "agent eu-9 is pending"},
		{"nodes deregister eu-9 -y", "DELETE /api/v1/nodes/agent/eu-9", "agent eu-9 is forgotten"},
		{"nodes revoke eu-1 -y", "DELETE /api/v1/nodes/agent/eu-1/certificate", "eu-1 is refused until it is unpinned"},
		{"nodes reissue eu-1 -y", "POST /api/v1/nodes/agent/eu-1/certificate", "its next certificate is pinned"},
		{"config reload", "POST /api/v1/config/reload", "reloaded: domains; only a restart changes api"},
		{"servers add app.example.com 192.0.2.12 443 --region eu --weight 50",
			`POST /api/v1/servers  {"service":"app.example.com","address":"192.0.2.12","port":443,"weight":50,"region":"eu"}`, "server app.example.com:192.0.2.12:443 is registered"},
		{"servers set app.example.com:192.0.2.12:443 --weight 9", `PATCH /api/v1/servers/app.example.com:192.0.2.12:443  {"weight":9}`, "server app.example.com:192.0.2.12:443 is changed"},
		{"servers remove app.example.com:192.0.2.12:443 -y", "DELETE /api/v1/servers/app.example.com:192.0.2.12:443", "server app.example.com:192.0.2.12:443 is removed"},
		{"servers check app.example.com:192.0.2.12:443 --type http --path /up --interval 5s --check-timeout 1s --expected-status 200 --healthy-threshold 1 --unhealthy-threshold 2",
			`PATCH /api/v1/servers/app.example.com:192.0.2.12:443/health-check  {"type":"http","path":"/up","interval":"5s","timeout":"1s","healthy_threshold":1,"unhealthy_threshold":2,"expected_status":"200"}`,
			"the check of app.example.com:192.0.2.12:443 is changed"},
		{"servers drain app.example.com:192.0.2.12:443 --over 2m", `POST /api/v1/servers/app.example.com:192.0.2.12:443/drain  {"duration":"2m0s"}`, "server app.example.com:192.0.2.12:443 is draining"},
		{"servers undrain app.example.com:192.0.2.12:443", "DELETE /api/v1/servers/app.example.com:192.0.2.12:443/drain", "server app.example.com:192.0.2.12:443 takes traffic again"},
		{"overrides clear app.example.com 192.0.2.11:443", "DELETE /api/v1/overrides/app.example.com/192.0.2.11:443", "the override of app.example.com 192.0.2.11:443 is gone"},
		{"backends override clear app.example.com 192.0.2.11:443", "DELETE /api/v1/overrides/app.example.com/192.0.2.11:443", "the override of app.example.com 192.0.2.11:443 is gone"},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		r := call(t, System{}, nodes[:1], append(strings.Fields(tc.args), "--api", documented(0))...)
		if r.code != 0 || r.out != tc.out+"\n" || r.errors != "" || fmt.Sprint(nodes[0].changes()) != fmt.Sprint([]string{tc.sent}) {
			t.Errorf("%s: %+v, sent %q", tc.args, r, nodes[0].changes())
		}
		r = call(t, System{}, nodes, append(strings.Fields(tc.args), "--api", documented(0), "--api", documented(1))...)
		if r.code != 0 || r.out != "http://127.0.0.1:18080: "+tc.out+"\nhttp://127.0.0.1:28080: "+tc.out+"\n" || len(nodes[1].changes()) != 1 {
			t.Errorf("%s on two nodes: %+v", tc.args, r)
		}
	}
}

func TestChanges_ThatOneNodeRefusesAreReported(t *testing.T) {
	const unpin = "DELETE /api/v1/overwatch/agents/eu-1"
	for name, tc := range map[string]struct {
		second any
		code   int
		words  string
	}{
		"not pinned there": {&api.Error{Status: 404, Message: "no agent is pinned"}, 0, "http://127.0.0.1:28080: no agent is pinned\n"},
		"full disk":        {&api.Error{Status: 507, Message: "nothing was changed"}, 1, "http://127.0.0.1:28080: http://127.0.0.1:28080 answered 507: nothing was changed; make room"},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		nodes[1].answers[unpin] = tc.second
		r := call(t, System{}, nodes, "agents", "unpin", "eu-1", "-y", "--api", documented(0), "--api", documented(1))
		if r.code != tc.code || !strings.Contains(r.out, tc.words) || (tc.code == 1) != strings.Contains(r.errors, "changed on 1 of 2 nodes; repeat it for the others") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	nodes := []*node{startNode(t), startNode(t)}
	for _, n := range nodes {
		delete(n.answers, unpin)
	}
	if r := call(t, System{}, nodes, "agents", "unpin", "eu-1", "-y", "--api", documented(0), "--api", documented(1)); r.code != 1 || !strings.Contains(r.errors, "changed on 0 of 2 nodes") {
		t.Errorf("nowhere: %+v", r)
	}
	if r := call(t, System{}, nodes[:1], "agents", "unpin", "eu-1", "-y", "--api", documented(0)); r.code != 1 || r.out != "" || !strings.Contains(r.errors, "answered 404") {
		t.Errorf("one node: %+v", r)
	}
	r := call(t, System{}, nodes[:1], "-o", "json", "overrides", "clear", "app.example.com", "192.0.2.11:443", "--api", documented(0))
	if r.code != 0 || !strings.Contains(r.out, `"message": "the override of app.example.com 192.0.2.11:443 is gone"`) {
		t.Errorf("as JSON: %+v", r)
	}
}

func TestConfirm_AsksBeforeWhatCannotBeTakenBack(t *testing.T) {
	for typed, code := range map[string]int{"y\n": 0, "YES\n": 0, "y": 0, "n\n": 1, "\n": 1, "": 1, "yep\n": 1} {
		for _, args := range []string{"agents unpin eu-1", "agents revoke eu-1 --reason r"} {
			n := startNode(t)
			r := call(t, System{Asks: true, In: strings.NewReader(typed)}, []*node{n}, append(strings.Fields(args), "--api", documented(0))...)
			if r.code != code || !strings.Contains(r.errors, "eu-1 takes the backends that only it reports out of DNS") || len(n.changes()) != 1-code {
				t.Errorf("%s, %q: %+v, %q", args, typed, r, n.changes())
			}
			if code == 1 && !strings.Contains(r.errors, "nothing was changed") {
				t.Errorf("%s, %q: %s", args, typed, r.errors)
			}
		}
	}
}

func TestStatus_JudgesAllNodesTogether(t *testing.T) {
	well := func(n *node) {
		n.answers["GET /api/health"] = api.Health{Status: api.ServiceHealthy, Version: "1.2.3"}
		n.answers["GET /api/v1/overwatch/backends?status=unhealthy"] = api.BackendList{}
		n.answers["GET /api/v1/overwatch/backends?status=stale"] = api.BackendList{}
		n.answers["GET /api/v1/overwatch/agents/expiring"] = api.ExpiringAgents{}
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
			n.answers["GET /api/v1/domains"] = api.DomainList{Domains: []api.Domain{{Name: "down.example.com", BackendCount: 2}, {Name: "empty.example.com"}}, Total: 2}
		}, 1},
		{"one lets us see its health only", well, func(n *node) {
			well(n)
			n.answers["GET /api/v1/overwatch/stats"] = &api.Error{Status: 403, Message: "127.0.0.1 is not in api.allowed_networks"}
		}, 1},
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
		many.Backends = append(many.Backends, api.Backend{Service: "app.example.com", Address: "192.0.2.1", Port: i + 1, EffectiveStatus: api.EffectiveUnhealthy, Reason: "r"})
	}
	many.Backends[0].Override = &api.ActiveOverride{Reason: "meant"}
	many.Total = len(many.Backends)
	n.answers["GET /api/v1/overwatch/backends?status=unhealthy"] = many
	r := call(t, System{}, []*node{n}, "status", "--api", documented(0))
	if strings.Count(r.out, "\n  - ") != maxProblems+1 || !strings.Contains(r.out, "502 things need attention") || !strings.Contains(r.out, "and 482 more") || strings.Contains(r.out, "meant") {
		t.Errorf("%s", r.out)
	}
}

func TestStatus_NodeWithoutAnswerDegradesAndAllWithoutAreUnreachable(t *testing.T) {
	n := startNode(t)
	gone := dead(t)
	r := call(t, System{}, []*node{n}, "status", "--api", documented(0), "--api", gone)
	if r.code != 1 || !strings.Contains(r.out, "no answer") || !strings.Contains(r.out, "nothing listens on http://"+gone) {
		t.Errorf("one of two: %+v", r)
	}
	for _, args := range [][]string{{"status", "--api", gone}, {"status", "--api", gone, "--api", dead(t)}, {"health", "--api", gone}} {
		if r := call(t, System{}, nil, args...); r.code != 2 || r.out != "" || r.errors == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

func TestVersion_WorksWithoutANode(t *testing.T) {
	r := call(t, System{}, nil, "version")
	if r.code != 0 || !strings.Contains(r.out, "gslbctl  1.2.3    0123456789ab  2026-01-01T00:00:00Z  go1.26") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, System{}, nil, "--version"); r.code != 0 || r.out != "gslbctl 1.2.3\n" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, System{}, nil, "version", "--nodes", "--api", dead(t)); r.code != 0 || !strings.Contains(r.out, "no answer") {
		t.Errorf("got %+v", r)
	}
}

func TestCompletion_OffersLiveNames(t *testing.T) {
	nodes := []*node{startNode(t)}
	for args, want := range map[string]string{
		"agents show ":                           "eu-1 lab-7 us-1",
		"agents unpin ":                          "eu-1 lab-7 us-1",
		"agents show eu-1 ":                      "",
		"domains show ":                          "app.example.com www.example.com",
		"backends list --service ":               "app.example.com www.example.com",
		"backends list --region ":                "eu us",
		"backends list --status ":                "healthy unhealthy stale",
		"overrides set ":                         "app.example.com www.example.com",
		"overrides set www.example.com ":         "[2001:db8::1]:443",
		"overrides set www.example.com 1 ":       "",
		"overrides clear ":                       "app.example.com",
		"overrides clear app.example.com ":       "192.0.2.11:443",
		"overrides clear app.example.com x ":     "",
		"servers -o ":                            "table wide name json yaml",
		"backends override set www.example.com ": "[2001:db8::1]:443",
	} {
		words := append(append([]string{"__complete", "--api", documented(0)}, strings.Fields(args)...), "")
		r := call(t, System{}, nodes, words...)
		offered := strings.Fields(strings.Split("\n"+r.out, "\n:4")[0])
		if r.code != 0 || strings.Join(offered, " ") != want {
			t.Errorf("%s: offers %q, want %q (%+v)", args, offered, want, r)
		}
	}
	if r := call(t, System{}, nil, "__complete", "routing", "test", "--client"); !strings.Contains(r.out, "--client\taddress of the resolver") {
		t.Errorf("what a flag is for has marks in it: %q", r.out)
	}
	if r := call(t, System{}, nil, "__complete", "--api", dead(t), "agents", "show", ""); r.code != 0 || strings.Contains(r.out, "eu-1") {
		t.Errorf("without a node: %+v", r)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if r := call(t, System{}, nil, "completion", shell); r.code != 0 || len(r.out) < 1000 {
			t.Errorf("%s: %d, %d bytes", shell, r.code, len(r.out))
		}
	}
}

func TestKeygen_MakesFreshSecretsWithoutANode(t *testing.T) {
	for args, length := range map[string]int{"keygen gossip": 44, "keygen token": 52} {
		first, second := call(t, System{}, nil, strings.Fields(args)...), call(t, System{}, nil, strings.Fields(args)...)
		if first.code != 0 || len(first.out) != length+1 || first.out == second.out {
			t.Errorf("%s: %+v, %+v", args, first, second)
		}
	}
}
