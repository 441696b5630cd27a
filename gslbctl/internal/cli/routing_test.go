package cli // inside: it shares fake_test.go

import (
	"context"
	"strings"
	"testing"
	"time"

	"gslb.internal/gslbctl/internal/cmdline"
	"gslb.internal/shared/api"
)

func fakeExplanation() api.RoutingResult {
	return api.RoutingResult{
		Domain: "app.example.com", QueryType: "A", ClientIP: "203.0.113.7", ClientSubnet: "198.51.100.0/24",
		ClientCountry: "US", ClientRegion: "us", LocatedBy: "database",
		Algorithm: "geolocation", Decision: api.RoutingFailover, Answer: []string{"app.example.com. 30 IN A " +
			"192.0.2.10"},
		ECSScope: 22, TTL: 30, TimeMicros: 2.5, Generation: 17, Timestamp: now,
		SelectedBackend: &api.RoutingBackend{Address: "192.0.2.10", Port: 443, Region: "eu", Weight: 100, Priority: 2,
			Healthy: true, Share: 0.8},
		Alternatives: []api.RoutingBackend{{Address: "192.0.2.11", Port: 443, Region: "eu", Weight: 50, Priority: 2,
			Healthy: true, Share: 0.2}},
		Excluded: []api.RoutingExcluded{{Address: "198.51.100.20", Port: 443, Region: "us",
			Reason: "unhealthy: the agent reports unhealthy: connection refused (its effective status does not allow " +
				"it to serve)"}},
		Factors: []api.RoutingFactor{
			{Name: "serving_backends", Type: "health", Value: "2 of 3, 2 of them of this family",
				Impact: "the others are omitted"},
			{Name: "client_region", Type: "geo", Value: "us by country 198.51.100.0/22",
				Impact: "its own region has nothing to answer with: eu is next"},
		},
		WouldBe: []api.RoutingWouldBe{{IfUp: "198.51.100.20:443", Decision: api.RoutingSuccess, Region: "us",
			Answers: []api.RoutingShare{{Address: "198.51.100.20", Share: 1}}}},
	}
}

func fakeDecisions() api.RoutingDecisionList {
	return api.RoutingDecisionList{Total: 2, Limit: 100, GeneratedAt: now, Decisions: []api.RoutingDecision{
		{ID: "0-2", Timestamp: now.Add(-2 * time.Second), Domain: "app.example.com", QueryType: "A",
			ClientSubnet: "198.51.100.0/24", ClientRegion: "us", Algorithm: "geolocation",
			SelectedServer: "192.0.2.10:443", SelectedRegion: "eu", Outcome: api.RoutingFailover, Generation: 17},
		{ID: "1-1", Timestamp: now.Add(-9 * time.Second), Domain: "www.example.com", QueryType: "AAAA",
			ClientSubnet: "2001:db8:1::/48", Algorithm: "failover",
			Outcome: api.RoutingNoBackend, Generation: 16},
	}}
}

func fakeFlows() api.RoutingFlowList {
	return api.RoutingFlowList{Total: 2, GeneratedAt: now, Flows: []api.RoutingFlow{
		{SourceRegion: "us", DestinationRegion: "eu", Domain: "app.example.com", RequestCount: 1200, Share: 0.75,
			Timestamp: now.Add(-3 * time.Minute)},
		{DestinationRegion: "eu", Domain: "app.example.com", RequestCount: 400, Share: 0.25,
			Timestamp: now.Add(-3 * time.Minute)},
	}}
}

func fakeAlgorithms() api.RoutingAlgorithmList {
	return api.RoutingAlgorithmList{Total: 2, GeneratedAt: now, Algorithms: []api.RoutingAlgorithm{
		{ID: "round-robin", Name: "Round robin", Type: "static", Description: "equal shares",
			Parameters: map[string]string{},
			Enabled:    true, Default: true},
		{ID: "weighted", Name: "Weighted", Type: "static", Description: "shares by weight",
			Parameters: map[string]string{"weight": "of each backend"}, Enabled: true},
	}}
}

func TestRoutingTest_TheExitCodeSaysWhetherThereIsAnAnswer(t *testing.T) {
	n := startNode(t)
	for kind, want := range map[api.RoutingDecisionKind]int{
		api.RoutingSuccess: 0, api.RoutingFailover: 0, api.RoutingFallback: 0, api.RoutingNoData: 0,
		api.RoutingOwnAnswer: 0,
		api.RoutingNoBackend: 1, api.RoutingNotFound: 1,
	} {
		e := fakeExplanation()
		e.Decision = kind
		n.answers["POST /api/v1/routing/test"] = api.RoutingTest{Result: e}
		for _, format := range []string{"table", "json", "yaml"} {
			r := ask(t, "-o "+format+" routing test app.example.com --client 203.0.113.7 --type AAAA", n)
			silent := r.errors == "" || kind == api.RoutingNotFound && strings.Contains(r.errors, "no domain")
			if r.code != want || !silent || !strings.Contains(r.out, string(kind)) {
				t.Errorf("%s as %s: %+v, want exit code %d", kind, format, r, want)
			}
		}
	}
	e := fakeExplanation()
	e.Decision, e.Domain = api.RoutingNotFound, "ap.example.com"
	n.answers["POST /api/v1/routing/test"] = api.RoutingTest{Result: e}
	if r := ask(t, "routing test ap.example.com --client 203.0.113.7", n); !strings.HasSuffix(r.errors,
		"configured; did you mean app.example.com?\n") {
		t.Errorf("a name that is mistyped: %+v", r)
	}
	if asked := n.changes()[0]; !strings.Contains(asked,
		`{"domain":"app.example.com","client_ip":"203.0.113.7","query_type":"AAAA"}`) {
		t.Errorf("asked was %s", asked)
	}
	for flags, want := range map[string]string{"": "client", "--place here": `--place is "here"`,
		"--place 1,2 --client 192.0.2.1": "client"} {
		args := append([]string{"--api", documented(0), "routing", "test", "app.example.com"}, strings.Fields(flags)...)
		if r := call(t, cmdline.System{}, []*node{n}, args...); r.code != 2 || !strings.Contains(r.errors, want) {
			t.Errorf("with %q: %+v, want exit code 2 and %q", flags, r, want)
		}
	}
	if r := ask(t, "routing decisions --limit 0", n); r.code != 2 || !strings.Contains(r.errors, "--limit is 0") {
		t.Errorf("a limit of 0: %+v", r)
	}
}

// SRV records belong to no single backend: the TTL is the TTL of the records.
func TestRoutingTest_SRV(t *testing.T) {
	n := startNode(t)
	e := fakeExplanation()
	e.Domain, e.QueryType, e.TTL = "_sip._tcp.app.example.com", "SRV", 25
	e.Answer = []string{"_sip._tcp.app.example.com. 25 IN SRV 0 100 443 app.example.com."}
	e.Alternatives, e.SelectedBackend = append(e.Alternatives, *e.SelectedBackend), nil
	n.answers["POST /api/v1/routing/test"] = api.RoutingTest{Result: e}
	r := ask(t, "routing test "+e.Domain+" --type SRV --client 203.0.113.7", n)
	if r.code != 0 || !strings.Contains(r.out, e.Answer[0]) || !strings.Contains(r.out, "25 s") {
		t.Errorf("%+v", r)
	}
	if asked := n.changes()[0]; !strings.Contains(asked, `"query_type":"SRV"`) {
		t.Errorf("asked was %s", asked)
	}
}

func TestRoutingTest_AsksFromAPlace(t *testing.T) {
	n := startNode(t)
	e := fakeExplanation()
	e.Nearby = &api.RoutingNearby{Place: api.Place{Latitude: -33.9, Longitude: 18.4}, Network: "203.0.113.0/24",
		Kilometres: 12}
	n.answers["POST /api/v1/routing/test"] = api.RoutingTest{Result: e}
	r := call(t, cmdline.System{}, []*node{n}, "--api", documented(0), "routing", "test", "app.example.com", "--place",
		"-34, 18.5")
	if r.code != 0 || !strings.Contains(r.out, "203.0.113.0/24 at -33.9,18.4: 12 km from there") {
		t.Errorf("%+v", r)
	}
	if asked := n.changes()[0]; !strings.Contains(asked, `"place":{"latitude":-34,"longitude":18.5}`) {
		t.Errorf("asked was %s", asked)
	}
}

// lines is an output that cancels a context after the given number of lines.
type lines struct {
	strings.Builder
	left int
	stop context.CancelFunc
}

func (l *lines) Write(p []byte) (int, error) {
	if l.left -= strings.Count(string(p), "\n"); l.left <= 0 {
		l.stop()
	}
	return l.Builder.Write(p)
}

func TestRoutingDecisions_FollowWritesEachOnceTheOldestFirst(t *testing.T) {
	n := startNode(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, errors := lines{left: 3, stop: stop}, strings.Builder{}
	list := fakeDecisions()
	list.Decisions = append([]api.RoutingDecision{
		{ID: "0-3", Timestamp: now, Domain: "app.example.com", QueryType: "A", ClientSubnet: "192.0.2.0/24",
			Algorithm: "weighted", Outcome: api.RoutingSuccess}}, list.Decisions...)
	n.answers["GET /api/v1/routing/decisions"] = list
	code := Run(ctx, cmdline.System{Out: &out, Err: &errors, Getenv: func(string) string { return "" },
		Now: func() time.Time { return now }}, []string{"--api", n.url, "routing", "decisions", "--follow", "-o",
		"json"})
	got := out.String()
	if code != 0 || strings.Count(got, "\n") != 3 || strings.Index(got, "1-1") > strings.Index(got, "0-2") ||
		strings.Index(got, "0-2") > strings.Index(got, "0-3") {
		t.Errorf("exit code %d, %s%s", code, got, errors.String())
	}
}

// Without --client, the first address of the network of --ecs is the client.
func TestRoutingTest_TakesTheClientFromItsNetwork(t *testing.T) {
	n := startNode(t)
	r := ask(t, "routing test app.example.com --ecs 198.51.100.0/24", n)
	sent := n.changes()
	if r.code != 0 || len(sent) != 1 || !strings.Contains(sent[0], `"client_ip":"198.51.100.0"`) ||
		!strings.Contains(sent[0], `"client_subnet":"198.51.100.0/24"`) {
		t.Errorf("%+v, sent %q", r, sent)
	}
	r = ask(t, "routing test app.example.com --ecs 198.51.100.77", n)
	if r.code == 0 || !strings.Contains(r.errors, "it must be a network") {
		t.Errorf("%+v", r)
	}
	r = ask(t, "routing test app.example.com", n)
	if r.code == 0 || !strings.Contains(r.errors, "--client is missing") {
		t.Errorf("%+v", r)
	}
}
