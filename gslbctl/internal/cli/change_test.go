package cli // inside: it shares fake_test.go

import (
	"fmt"
	"strings"
	"testing"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

func TestChanges_GoToAllNodes(t *testing.T) {
	for _, tc := range []struct{ args, sent, out string }{
		{"agents unpin eu-1 --yes", "DELETE /api/v1/overwatch/agents/eu-1",
			"the pin of eu-1 is deleted: it must prove its service token again"},
		{"agents unlock app.example.com --yes", "DELETE /api/v1/overwatch/locks/app.example.com",
			"the token of app.example.com admits new agents again"},
		{"agents unpin --service app.example.com --never-reported --yes",
			"DELETE /api/v1/overwatch/agents never_reported=true&service=app.example.com", "2 agents are unpinned"},
		{"overrides set app.example.com 192.0.2.11:443 --healthy=false --reason r --expires-in 30m",
			`PUT /api/v1/overrides/app.example.com/192.0.2.11:443  ` +
				`{"healthy":false,"reason":"r","source":"gslbctl","expires_in":"30m0s"}`,
			"app.example.com 192.0.2.11:443 is unhealthy for 30m"},
		{"domains add shop.example.com --ttl 20 --regions us,eu",
			`POST /api/v1/domains  {"name":"shop.example.com","regions":["us","eu"],"ttl":20}`,
			"domain shop.example.com is answered"},
		{"domains add *.shop.example.com --wildcard", `POST /api/v1/domains  {"name":"*.shop.example.com"}`,
			"domain shop.example.com is answered"},
		{"domains set shop.example.com --dnssec-enabled=false",
			`PATCH /api/v1/domains/shop.example.com  {"dnssec_enabled":false}`, "domain shop.example.com is changed"},
		{"domains set shop.example.com --routing-algorithm latency --fallback-algorithm weighted --min-healthy 50% " +
			"--enabled=false --description x --tags a,b",
			`PATCH /api/v1/domains/shop.example.com  ` +
				`{"description":"x","enabled":false,"fallback_algorithm":"weighted","min_healthy":"50%",` +
				`"routing_policy":"latency","tags":["a","b"]}`, "domain shop.example.com is changed"},
		{"domains add shop.example.com --https-alpn h2,h3 --https-port 8443 --srv _sip._tcp,_xmpp-client._tcp",
			`POST /api/v1/domains  {"https":{"alpn":["h2","h3"],"port":8443},"name":"shop.example.com",` +
				`"srv":["_sip._tcp","_xmpp-client._tcp"]}`, "domain shop.example.com is answered"},
		{"domains set shop.example.com --max-answers 3 --latency-config-min-samples 9 --brake-window 30s --reset " +
			"ttl,on-all-down",
			`PATCH /api/v1/domains/shop.example.com  {"brake":{"window":"30s"},"latency_config":{"min_samples":9},` +
				`"max_answers":3,"on_all_down":null,"ttl":null}`, "domain shop.example.com is changed"},
		{"domains set shop.example.com --answer cname", `PATCH /api/v1/domains/shop.example.com  {"answer":"cname"}`,
			"domain shop.example.com is changed"},
		{"domains set shop.example.com --https-alpn= --srv=",
			`PATCH /api/v1/domains/shop.example.com  {"https":{"alpn":[]},"srv":[]}`,
			"domain shop.example.com is changed"},
		{"domains set shop.example.com --https-alpn h2 --https-ech AEX+",
			`PATCH /api/v1/domains/shop.example.com  {"https":{"alpn":["h2"],"ech":"AEX+"}}`,
			"domain shop.example.com is changed"},
		{"domains remove shop.example.com -y", "DELETE /api/v1/domains/shop.example.com",
			"domain shop.example.com is removed"},
		{"regions add ap --continents AS --countries JP,KR --latitude 35.7 --longitude -139.7 --enabled=false " +
			"--priority 3 --code ap1 --description x",
			`POST /api/v1/regions  ` +
				`{"code":"ap1","continent":"AS","countries":["JP","KR"],"description":"x","enabled":false,` +
				`"latitude":35.7,"longitude":-139.7,"name":"ap","priority":3}`, "region ap is there"},
		{"regions set ap --priority 0", `PATCH /api/v1/regions/ap  {"priority":0}`, "region ap is changed"},
		{`regions set ap --name Asia`, `PATCH /api/v1/regions/ap  {"name":"Asia"}`, "region ap is changed"},
		{"domains reset over.example.com -y", "DELETE /api/v1/domains/over.example.com/overlay",
			"domain over.example.com has the values of the file"},
		{"domains set over.example.com --ttl 5", `PATCH /api/v1/domains/over.example.com  {"ttl":5}`,
			"domain over.example.com is changed: overlay over the configuration"},
		{"servers set app.example.com:192.0.2.13:443 --weight 5",
			`PATCH /api/v1/servers/app.example.com:192.0.2.13:443  {"weight":5}`,
			"server app.example.com:192.0.2.13:443 is changed: overlay over the configuration"},
		{"servers reset app.example.com:192.0.2.13:443 -y",
			"DELETE /api/v1/servers/app.example.com:192.0.2.13:443/overlay",
			"server app.example.com:192.0.2.13:443 has the values of the file"},
		{"regions reset ap -y", "DELETE /api/v1/regions/ap/overlay", "region ap has the values of the file"},
		{"regions remove ap -y", "DELETE /api/v1/regions/ap", "region ap is removed"},
		{"tokens revoke external-dns -y", "DELETE /api/v1/tokens/external-dns", "the token external-dns is revoked"},
		{"geo set 203.0.113.0/24 eu --comment office",
			`PUT /api/v1/geo/mappings  {"cidr":"203.0.113.0/24","comment":"office","region":"eu"}`,
			"clients of 203.0.113.0/24 are in eu"},
		{"records add www.example.com A 192.0.2.1 --ttl 60",
			`POST /api/v1/records  {"data":["192.0.2.1"],"name":"www.example.com","ttl":60,"type":"A"}`,
			"www.example.com has the A records 192.0.2.1"},
		{"records set www.example.com A 192.0.2.1",
			`PUT /api/v1/records/www.example.com/A  {"data":["192.0.2.1"]}`, "www.example.com has the A records 192.0.2.1"},
		{"records delete www.example.com A -y", "DELETE /api/v1/records/www.example.com/A",
			"www.example.com A is deleted"},
		{"geo remove 203.0.113.0/24 -y", "DELETE /api/v1/geo/mappings/203.0.113.0/24",
			"the mapping of 203.0.113.0/24 is removed"},
		{"config set dns default_ttl=60 zones=a.example,b.example return_last_healthy=true",
			`PATCH /api/v1/config/dns  {"default_ttl":60,"return_last_healthy":true,"zones":["a.example","b.example"]}`,
			"dns is changed: default_ttl=60, zones=a.example,b.example, return_last_healthy=true; only a restart " +
				"changes dns.rate_limit"},
		{"config set health-check default_interval_seconds=2.5",
			`PATCH /api/v1/config/health-check  {"default_interval_seconds":2.5}`,
			"health-check is changed: default_interval_seconds=2.5"},
		{"config set logging level=debug", `PATCH /api/v1/config/logging  {"level":"debug"}`,
			"logging is changed: level=debug"},
		{"config set gossip seeds=", `PATCH /api/v1/gossip/config  {"seeds":[]}`, "gossip is changed: seeds="},
		{"config reset dns -y", "DELETE /api/v1/config/dns", "dns has the settings of the file"},
		{"config reset gossip -y", "DELETE /api/v1/gossip/config", "gossip has the settings of the file"},
		{`preferences set theme=dark custom_settings={"a":[1]}`,
			`PATCH /api/v1/preferences  {"theme":"dark","custom_settings":{"a":[1]}}`,
			`preferences is changed: theme=dark, custom_settings={"a":[1]}`},
		{"nodes announce eu-9 --region eu --address 192.0.2.9 --port 9100",
			`POST /api/v1/nodes/agent  {"name":"eu-9","address":"192.0.2.9","port":9100,"region":"eu"}`,
			"agent eu-9 is pending"},
		{"agents remove eu-9 -y", "DELETE /api/v1/nodes/agent/eu-9", "agent eu-9 is deleted"},
		{"nodes reissue eu-1 -y", "POST /api/v1/nodes/agent/eu-1/certificate", "its next certificate is pinned"},
		{"config reload", "POST /api/v1/config/reload", "reloaded: domains; only a restart changes api"},
		{"servers add app.example.com 192.0.2.12 443 --region eu --weight 50",
			`POST /api/v1/servers  {"address":"192.0.2.12","port":443,"region":"eu","service":"app.example.com",` +
				`"weight":50}`,
			"server app.example.com:192.0.2.12:443 is registered"},
		{"servers add app.example.com 192.0.2.12 443 --region eu --health-check-type http " +
			"--health-check-path /up --health-check-timeout 1s",
			`POST /api/v1/servers  {"address":"192.0.2.12",` +
				`"health_check":{"path":"/up","timeout":"1s","type":"http"},"port":443,"region":"eu",` +
				`"service":"app.example.com"}`,
			"server app.example.com:192.0.2.12:443 is registered"},
		{"servers add app.example.com lb.example.net 443 --region eu --allowed-cidrs 10.0.0.0/8",
			`POST /api/v1/servers  {"allowed_cidrs":["10.0.0.0/8"],"port":443,"region":"eu",` +
				`"service":"app.example.com","target":"lb.example.net"}`,
			"server app.example.com:192.0.2.12:443 is registered"}, // as the node that is a fake says
		{"servers set app.example.com:lb.example.net:443 --allowed-cidrs 10.0.0.0/8,192.0.2.0/24",
			`PATCH /api/v1/servers/app.example.com:lb.example.net:443  {"allowed_cidrs":["10.0.0.0/8","192.0.2.0/24"]}`,
			"server app.example.com:lb.example.net:443 is changed"},
		{"servers set app.example.com:192.0.2.12:443 --agent eu-1",
			`PATCH /api/v1/servers/app.example.com:192.0.2.12:443  {"agent":"eu-1"}`,
			"server app.example.com:192.0.2.12:443 is changed"},
		{"servers set app.example.com:192.0.2.12:443 --weight 9",
			`PATCH /api/v1/servers/app.example.com:192.0.2.12:443  {"weight":9}`,
			"server app.example.com:192.0.2.12:443 is changed"},
		{"servers remove app.example.com:192.0.2.12:443 -y", "DELETE /api/v1/servers/app.example.com:192.0.2.12:443",
			"server app.example.com:192.0.2.12:443 is removed"},
		{"servers check app.example.com:192.0.2.12:443 --type http --path /up --interval 5s --check-timeout 1s " +
			"--expected-status 200 --healthy-threshold 1 --unhealthy-threshold 2",
			`PATCH /api/v1/servers/app.example.com:192.0.2.12:443/health-check  ` +
				`{"expected_status":"200","healthy_threshold":1,"interval":"5s","path":"/up","timeout":"1s","type":"http",` +
				`"unhealthy_threshold":2}`,
			"the check of app.example.com:192.0.2.12:443 is changed"},
		{"servers check app.example.com:192.0.2.12:443 --enabled=false",
			`PATCH /api/v1/servers/app.example.com:192.0.2.12:443/health-check  {"enabled":false}`,
			"the check of app.example.com:192.0.2.12:443 is changed"},
		{"weight app.example.com 192.0.2.10:443 7 --reason warm --expires-in 1h",
			`PUT /api/v1/overwatch/backends/app.example.com/192.0.2.10/443/weight  ` +
				`{"weight":7,"reason":"warm","source":"gslbctl","expires_in":"1h0m0s"}`,
			"server app.example.com:192.0.2.10:443 has the weight 7 instead of 100 until 2026-01-02 04:04:05 UTC"},
		{"weight app.example.com 192.0.2.10:443 --clear",
			"DELETE /api/v1/overwatch/backends/app.example.com/192.0.2.10/443/weight",
			"app.example.com 192.0.2.10:443 has its declared weight"},
		{"weight app.example.com 192.0.2.10 --clear",
			"DELETE /api/v1/overwatch/backends/app.example.com/192.0.2.10/443/weight",
			"1 backend of app.example.com 192.0.2.10: the declared weight is restored"},
		{"overrides clear app.example.com 192.0.2.11:443", "DELETE /api/v1/overrides/app.example.com/192.0.2.11:443",
			"the override of app.example.com 192.0.2.11:443 is cleared"},
		{"failback app.example.com --region eu", `POST /api/v1/domains/app.example.com/failback  {"regions":["eu"]}`,
			"the clients of eu return in the answers for app.example.com"},
		{"failback --region eu,us", `POST /api/v1/domains/app.example.com/failback  {"regions":["eu"]}`,
			"the clients of eu return in the answers for app.example.com"},
		{"failback --region eu", `POST /api/v1/domains/app.example.com/failback  {"regions":["eu"]}`,
			"the clients of eu return in the answers for app.example.com"},
		{"brakes release --region eu", "DELETE /api/v1/overwatch/brakes/eu scope=region",
			"the agents of region eu are no longer held"},
		{"brakes release app.example.com", "DELETE /api/v1/overwatch/brakes/app.example.com",
			"the agents of app.example.com are no longer held"},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		r := ask(t, tc.args, nodes[0])
		if r.code != 0 || r.out != tc.out+"\n" || r.errors != "" ||
			fmt.Sprint(nodes[0].changes()) != fmt.Sprint([]string{tc.sent}) {
			t.Errorf("%s: %+v, sent %q", tc.args, r, nodes[0].changes())
		}
		r = ask(t, tc.args, nodes...)
		if r.code != 0 || r.out != "all 2 nodes: "+tc.out+"\n" ||
			len(nodes[1].changes()) != 1 {
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
		"not pinned there": {&api.Error{Status: 404, Message: "no agent is pinned"}, 0,
			"http://127.0.0.1:28080: no agent is pinned\n"},
		"full disk": {&api.Error{Status: 507, Message: "nothing was changed"}, 1,
			"http://127.0.0.1:28080: nothing was changed; free space"},
	} {
		nodes := []*node{startNode(t), startNode(t)}
		nodes[1].answers[unpin] = tc.second
		r := ask(t, "agents unpin eu-1 -y", nodes...)
		if r.code != tc.code || !strings.Contains(r.out, tc.words) ||
			(tc.code == 1) != strings.Contains(r.errors, "changed on 1 of 2 nodes; repeat it for the others") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	nodes := []*node{startNode(t), startNode(t)}
	for _, n := range nodes {
		delete(n.answers, unpin)
	}
	if r := ask(t, "agents unpin eu-1 -y", nodes...); r.code != 1 ||
		!strings.Contains(r.errors, "gslbctl: nothing was changed\n") {
		t.Errorf("nowhere: %+v", r)
	}
	if r := ask(t, "agents unpin eu-1 -y", nodes[0]); r.code != 1 || r.out != "" ||
		!strings.Contains(r.errors, "answered 404") {
		t.Errorf("one node: %+v", r)
	}
	r := ask(t, "-o json overrides clear app.example.com 192.0.2.11:443", nodes[0])
	if r.code != 0 || !strings.Contains(r.out,
		`"message": "the override of app.example.com 192.0.2.11:443 is cleared"`) {
		t.Errorf("as JSON: %+v", r)
	}
}

// The next steps after a revocation are printed once, in addition to the results of the nodes. With -o json, only the
// answer of the API contains them.
func TestRevoke_TellsWhatToDoNext(t *testing.T) {
	nodes := []*node{startNode(t), startNode(t)}
	line := []string{"agents", "revoke", "eu-1", "--reason", "stolen", "--lock-service", "-y", "--api", documented(0),
		"--api", documented(1)}
	r := call(t, cmdline.System{}, nodes, line...)
	if r.code != 0 || strings.Count(r.out, "all 2 nodes: eu-1 is revoked") != 1 ||
		r.errors != "What to do next:\n1. make a new token\n2. give it to the other agents\n" {
		t.Errorf("%+v", r)
	}
	if sent := fmt.Sprint(
		nodes[1].changes()); sent != `[POST /api/v1/overwatch/agents/eu-1/revoke  {"reason":"stolen","lock_service":true}]` {
		t.Errorf("sent %s", sent)
	}
	if r := call(t, cmdline.System{}, nodes, append(line, "-o", "json")...); r.code != 0 || r.errors != "" {
		t.Errorf("as JSON: %+v", r)
	}
}

func TestUnpinMany_WantsToKnowWho(t *testing.T) {
	for line, words := range map[string]string{
		"agents unpin": "name an agent", "agents unpin eu-1 --since 2h": "with --service",
		"agents unpin --service a":                 "--never-reported or --since",
		"agents unpin eu-1 --service a --since 2h": "not both",
		"agents unpin --service a --since today":   "2026-01-31T12:00:00Z",
		"agents unpin --service a --since -2h":     "duration",
	} {
		n := startNode(t)
		if r := call(t, cmdline.System{}, []*node{n}, append(strings.Fields(line), "-y", "--api",
			documented(0))...); r.code == 0 ||
			!strings.Contains(r.errors, words) || len(n.changes()) > 0 {
			t.Errorf("%s: %+v", line, r)
		}
	}
	nodes := []*node{startNode(t)}
	r := call(t, cmdline.System{Asks: true, In: strings.NewReader("n\n")}, nodes, "agents", "unpin", "--service",
		"app.example.com", "--never-reported", "--api", documented(0))
	if r.code != 1 || !strings.Contains(r.errors, "nothing was changed") {
		t.Errorf("%+v", r)
	}
	r = ask(t, "agents unpin --service app.example.com --never-reported --dry-run -o json", nodes...)
	if r.code != 0 || !strings.Contains(r.out, `"eu-8"`) {
		t.Errorf("%+v", r)
	}
}

func TestConfirm_AsksBeforeWhatCannotBeTakenBack(t *testing.T) {
	for typed, code := range map[string]int{"y\n": 0, "YES\n": 0, "y": 0, "n\n": 1, "\n": 1, "": 1, "yep\n": 1} {
		for _, args := range []string{"agents unpin eu-1", "agents revoke eu-1 --reason r"} {
			n := startNode(t)
			r := call(t, cmdline.System{Asks: true, In: strings.NewReader(typed)}, []*node{n},
				append(strings.Fields(args), "--api", documented(0))...)
			if r.code != code || !strings.Contains(r.errors, "eu-1 removes the backends that only this agent "+
				"reports from DNS") ||
				len(n.changes()) != 1-code {
				t.Errorf("%s, %q: %+v, %q", args, typed, r, n.changes())
			}
			if code == 1 && !strings.Contains(r.errors, "nothing was changed") {
				t.Errorf("%s, %q: %s", args, typed, r.errors)
			}
		}
	}
}

// The HTTPS records are one value of the API. A flag changes one part of this value and keeps the other parts.
func TestDomainsSet_APartOfTheHTTPSRecords(t *testing.T) {
	for args, want := range map[string]string{
		"--https-port 8443":    `{"https":{"alpn":["h2"],"port":8443,"ech":"AEX+"}}`,
		"--https-port 0":       `{"https":{"alpn":["h2"],"ech":"AEX+"}}`,
		"--https-alpn h3":      `{"https":{"alpn":["h3"],"port":444,"ech":"AEX+"}}`,
		"--https-ech= --ttl 9": `{"https":{"alpn":["h2"],"port":444},"ttl":9}`,
		"--https-alpn=":        `{"https":{"alpn":[]}}`,
		"--srv _sip._tcp":      `{"srv":["_sip._tcp"]}`,
	} {
		n := startNode(t)
		n.set("GET /api/v1/domains/shop.example.com", api.DomainDetail{Domain: api.Domain{Domain: model.Domain{
			Name: "shop.example.com", HTTPS: model.HTTPS{ALPN: []string{"h2"}, Port: 444, ECH: "AEX+"}}}})
		ask(t, "domains set shop.example.com "+args, n)
		sent := strings.TrimPrefix(strings.Join(n.changes(), "; "), "PATCH /api/v1/domains/shop.example.com  ")
		if sent != want {
			t.Errorf("%s: sent %s, want %s", args, sent, want)
		}
	}
}

// A flag of an earlier version has the same effect as the current flag, and the warning names the current flag.
func TestDomainsSet_EarlierFlagsStillWork(t *testing.T) {
	for old, now := range map[string]string{"--policy latency": "--routing-algorithm",
		"--signed=false":          "--dnssec-enabled",
		"--client-ipv4-prefix 20": "--client-hash-ipv4-prefix"} {
		n := startNode(t)
		r := ask(t, "domains set shop.example.com "+old, n)
		if r.code != 0 || len(n.changes()) != 1 || !strings.Contains(r.errors, "use "+now) {
			t.Errorf("%s: %+v, sent %q", old, r, n.changes())
		}
	}
	n := startNode(t)
	if r := ask(t, "domains set shop.example.com --reset ttl --ttl 5", n); r.code == 0 || len(n.changes()) > 0 {
		t.Errorf("%+v", r)
	}
	if r := ask(t, "domains set shop.example.com --reset tlt", n); r.code == 0 ||
		!strings.Contains(r.errors, `no setting is named "tlt"`) {
		t.Errorf("%+v", r)
	}
}

func TestDomainsAdd_CompletesSeveralProtocols(t *testing.T) {
	for typed, want := range map[string]string{"": "h2 h3", "h2,": "h2,h3", "h2,h3,": ""} {
		r := call(t, cmdline.System{}, []*node{startNode(t)}, "__complete", "--api", documented(0), "domains", "add",
			"x",
			"--https-alpn", typed)
		if got := strings.Fields(strings.Split("\n"+r.out, "\n:6")[0]); strings.Join(got, " ") != want {
			t.Errorf("%q: offered are %q, want %q (%+v)", typed, got, want, r)
		}
	}
}

func TestDomains_HTTPSFlagsThatMeanNothingAreRefused(t *testing.T) {
	for args, words := range map[string]string{
		"domains add shop.example.com --https-port 8443": "such as --https-alpn h2,h3",
		"domains set shop.example.com --https-ech AEX+": "such as --https-alpn h2,h3; nothing was " +
			"changed",
		"domains set shop.example.com --https-alpn= --https-port 8443": "takes the HTTPS records away",
		"domains add shop.example.com --https-alpn= --https-ech AEX+":  "takes the HTTPS records away",
		"domains add shop.example.com --https-port " +
			"many": `--https-port is "many": it must be a whole number`,
	} {
		n := startNode(t)
		r := ask(t, args, n)
		if r.code == 0 || !strings.Contains(r.errors, words) || len(n.changes()) > 0 {
			t.Errorf("%s: %+v, sent %q", args, r, n.changes())
		}
	}
}

func TestDomainsAdd_AWildcardIsAskedFor(t *testing.T) {
	for args, words := range map[string]string{
		"domains add *.example.com":               "all names below example.com",
		"domains add shop.example.com --wildcard": "begins with *.",
	} {
		n := startNode(t)
		r := ask(t, args, n)
		if r.code == 0 || !strings.Contains(r.errors, words) || len(n.changes()) > 0 {
			t.Errorf("%s: %+v, sent %q", args, r, n.changes())
		}
	}
}
