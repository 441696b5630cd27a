package httpapi // inside: it shares world_test.go

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/health/gossip"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const (
	first  = service + ":192.0.2.1:80"
	second = service + ":192.0.2.2:80"
)

func TestHealth_TellsTheJudgementAndTheUptime(t *testing.T) {
	w := newWorld(t)
	for _, status := range []api.ServiceStatus{api.ServiceHealthy, api.ServiceDegraded, api.ServiceUnhealthy} {
		w.fitness.status = status
		h, err := w.client.Health(t.Context())
		w.must(err)
		if h.Status != status || h.Version != "1.2.3" || h.UptimeSeconds < 90 ||
			h.UptimeSeconds > 90+int64(deadline.Seconds()) ||
			time.Since(h.Timestamp) > deadline || h.Timestamp.Location() != time.UTC {
			t.Errorf("got %+v", h)
		}
	}
}

func TestReady_Is503UntilTheNodeIs(t *testing.T) {
	w := newWorld(t)
	if r := w.send("GET", "/api/v1/ready", ""); r.status != 200 ||
		r.body != `{"ready":true,"dns_ready":true,"health_ready":true}`+"\n" {
		t.Errorf("ready: %d %s", r.status, r.body)
	}
	w.fitness.readiness = api.Readiness{DNSReady: true, Message: "no cycle"}
	if r := w.send("GET", "/api/v1/ready", ""); r.status != 503 ||
		r.body != `{"ready":false,"dns_ready":true,"health_ready":false,"message":"no cycle"}`+"\n" {
		t.Errorf("not ready: %d %s", r.status, r.body)
	}
}

func TestLiveAndVersion_AreTheProcess(t *testing.T) {
	w := newWorld(t)
	if r := w.send("GET", "/api/v1/live", ""); r.status != 200 || r.body != `{"alive":true}`+"\n" {
		t.Errorf("live: %d %s", r.status, r.body)
	}
	v, err := w.client.Version(t.Context())
	if want := (api.Version{Version: "1.2.3", GoVersion: "go1.26", GitCommit: "abc",
		BuildDate: "2026-01-01T00:00:00Z"}); err != nil || v != want {
		t.Errorf("version %+v, %v", v, err)
	}
}

func TestServers_ListAndGetShowTheRegistry(t *testing.T) {
	w := newWorld(t)
	w.declare(second, first, service+":2001:db8::1:443")
	w.validate(first, check.StateHealthy, "")
	w.agent("198.51.100.7", wire.ClaimUnhealthy)
	list, err := w.client.Servers(t.Context())
	w.must(err)
	var ids []string
	for _, s := range list.Servers {
		ids = append(ids, fmt.Sprint(s.ID, " ", s.Source, " ", s.EffectiveStatus, " ", s.AgentHealthy != nil, " ", s.Weight,
			" ", s.Region))
	}
	want := []string{
		first + " static healthy false 100 eu", second + " static unhealthy false 100 eu",
		service + ":198.51.100.7:80 agent unhealthy true 50 us", service + ":2001:db8::1:443 static unhealthy false 100 eu",
	}
	if strings.Join(ids, "\n") != strings.Join(want, "\n") || list.Total != 4 {
		t.Errorf("total %d, got\n%s\nwant\n%s", list.Total, strings.Join(ids, "\n"), strings.Join(want, "\n"))
	}
	for _, id := range []string{service + ":2001:db8::1:443", service + ":[2001:db8::1]:443",
		"APP.example.:[2001:DB8:0::1]:443", service + ":%5B2001:db8::1%5D:443", service + ":2001:db8::1%3A443"} {
		r := w.send("GET", "/api/v1/servers/"+id, "")
		if r.status != 200 || !strings.Contains(r.body, `"id":"app.example:2001:db8::1:443"`) ||
			!strings.Contains(r.body, `"agent_healthy":null`) {
			t.Errorf("%s: %d %s", id, r.status, r.body)
		}
	}
	w.wantError("unknown", w.send("GET", "/api/v1/servers/"+service+":192.0.2.9:80", ""), 404, "192.0.2.9")
	w.wantError("bad id", w.send("GET", "/api/v1/servers/app", ""), 400, `"app"`, "<service>:<address>:<port>")
}

func TestLists_PagesAreStableAndBounded(t *testing.T) {
	w := newWorld(t)
	var ids []string
	for i := range 250 {
		ids = append(ids, fmt.Sprintf("s%03d.example:192.0.2.1:80", i))
	}
	w.declare(ids...)
	for _, tc := range []struct {
		query     string
		from, len int
	}{{"", 0, 100}, {"?limit=7&offset=3", 3, 7}, {"?limit=1000", 0, 250}, {"?offset=249", 249, 1}, {"?offset=250", 0, 0},
		{"?offset=2147483648", 0, 0}, {"?limit=&offset=", 0, 100}} {
		for _, path := range []string{"/api/v1/servers", "/api/v1/overwatch/backends", "/api/v1/health/servers"} {
			r := w.send("GET", path+tc.query, "")
			if r.status != 200 || strings.Count(r.body, `"id":`) != tc.len ||
				!strings.Contains(r.body, `"total":250,"generated_at":"`) {
				t.Errorf("%s%s: %d, %d entries", path, tc.query, r.status, strings.Count(r.body, `"id":`))
			}
			for i := range tc.len {
				if !strings.Contains(r.body, ids[tc.from+i]) {
					t.Fatalf("%s%s lacks %s", path, tc.query, ids[tc.from+i])
				}
			}
		}
	}
	for query, words := range map[string]string{
		"?limit=0": "1 to 1000", "?limit=1001": "1 to 1000", "?limit=-1": `"-1"`, "?limit=ten": `"ten"`,
		"?limit=1e2": "whole number", "?limit=99999999999999999999": "whole number",
		"?offset=-1": "offset", "?offset=2147483649": "offset", "?limit=5&limit=6": "2 times",
		"?page=2": `unknown query parameter "page": known are limit, offset`, "?limit=%zz": "URL encoding",
	} {
		w.wantError(query, w.send("GET", "/api/v1/servers"+query, ""), 400, words)
	}
}

func TestBackends_ShowEveryVerdict(t *testing.T) {
	w := newWorld(t)
	w.validate(first, check.StateHealthy, "")
	w.validate(second, check.StateUnhealthy, "connection refused")
	w.agent("192.0.2.1", wire.ClaimHealthy)
	for path, want := range map[string]string{
		"192.0.2.1/80": `"agent_id":"agent-1"|"weight":100|"share":1|"effective_status":"healthy"|` +
			`"may_serve":true|"agent_healthy":true|` +
			`"validation_healthy":true|"validation_error":null|"validation_latency_ms":1.5|"override":null`,
		"192.0.2.2/80": `"agent_id":""|"effective_status":"unhealthy"|"may_serve":false|` +
			`"agent_healthy":null|"agent_last_seen":null|"validation_healthy":false|` +
			`"validation_error":"connection refused"`,
	} {
		r := w.send("GET", "/api/v1/overwatch/backends/"+service+"/"+path, "")
		for _, part := range strings.Split(want, "|") {
			if r.status != 200 || !strings.Contains(r.body, part) {
				t.Errorf("%s: %d lacks %s:\n%s", path, r.status, part, r.body)
			}
		}
	}
	w.wantError("unknown", w.send("GET", "/api/v1/overwatch/backends/"+service+"/192.0.2.9/80", ""), 404)
	w.wantError("bad port", w.send("GET", "/api/v1/overwatch/backends/"+service+"/192.0.2.1/http", ""), 400, `"http"`)
}

func TestBackends_FiltersSelect(t *testing.T) {
	w := newWorld(t)
	w.declare(first, second, "other.example:192.0.2.3:80")
	w.validate(first, check.StateHealthy, "")
	w.agent("198.51.100.7", wire.ClaimHealthy)
	for query, want := range map[string]int{
		"": 4, "?service=app.example": 3, "?service=APP.Example.": 3, "?service=none.example": 0, "?region=us": 1,
		"?region=US": 1, "?status=healthy": 2, "?status=stale": 0,
		"?status=unhealthy&service=app.example&region=eu": 1, "?service=&status=": 4,
	} {
		r := w.send("GET", "/api/v1/overwatch/backends"+query, "")
		if r.status != 200 || !strings.Contains(r.body, fmt.Sprintf(`"total":%d,`, want)) ||
			strings.Count(r.body, `"id":`) != want {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	w.wantError("status", w.send("GET", "/api/v1/overwatch/backends?status=well", ""), 400, `"well"`,
		"healthy, unhealthy, stale")
}

func TestHealthServers_SumUpTheChecks(t *testing.T) {
	w := newWorld(t)
	w.validate(first, check.StateHealthy, "")
	w.agent("198.51.100.7", wire.ClaimUnhealthy)
	list, err := w.client.ServerHealth(t.Context())
	w.must(err)
	if len(list.Servers) != 3 {
		t.Fatalf("got %+v", list)
	}
	good, never, bad := list.Servers[0], list.Servers[1], list.Servers[2]
	if !good.Healthy || good.Status != api.CheckHealthy || good.LastError != nil || good.LastCheck == nil ||
		good.LastHealthy == nil || good.ConsecutiveSuccesses != 1 {
		t.Errorf("healthy: %+v", good)
	}
	if never.Healthy || never.Status != api.CheckUnknown || never.LastCheck != nil || never.LastHealthy != nil ||
		never.LastError == nil {
		t.Errorf("never checked: %+v", never)
	}
	if bad.Healthy || bad.Status != api.CheckUnhealthy || bad.LastError == nil || *bad.LastError != "connection refused" ||
		bad.ConsecutiveFailures != 4 {
		t.Errorf("unhealthy: %+v", bad)
	}
}

func TestHealthRegions_CountConfiguredAndReportedRegions(t *testing.T) {
	w := newWorld(t)
	w.cfg.Load().Regions = append(w.cfg.Load().Regions[:1:1], w.cfg.Load().Regions[1])
	w.validate(first, check.StateHealthy, "")
	list, err := w.client.RegionHealth(t.Context())
	w.must(err)
	want := []api.RegionHealth{
		{Name: "eu", TotalServers: 2, HealthyCount: 1, UnhealthyCount: 1, HealthPercent: 50},
		{Name: "us"},
	}
	if fmt.Sprint(list.Regions) != fmt.Sprint(want) || list.Total != 2 {
		t.Errorf("got %+v, want %+v", list.Regions, want)
	}
}

func TestDomains_ListAndShowTheConfiguration(t *testing.T) {
	w := newWorld(t)
	w.validate(second, check.StateHealthy, "")
	list, err := w.client.Domains(t.Context())
	w.must(err)
	if list.Total != 2 || list.Domains[0].Name != service || list.Domains[1].Name != "www.example" {
		t.Fatalf("got %+v", list)
	}
	app, www := list.Domains[0], list.Domains[1]
	if app.ID != service || app.TTL != 30 || app.RoutingPolicy != "weighted" || !app.Enabled || app.BackendCount != 2 ||
		app.HealthyBackends != 1 || app.Settings != nil {
		t.Errorf("app: %+v", app)
	}
	if www.TTL != 60 || www.BackendCount != 0 {
		t.Errorf("www: %+v", www)
	}
	detail, err := w.client.Domain(t.Context(), "WWW.Example.")
	w.must(err)
	if got := detail.Domain.Settings; got == nil ||
		*got != (api.DomainSettings{FailoverEnabled: true, FailoverThreshold: 2, LoadBalancingMethod: "weighted"}) {
		t.Errorf("settings %+v", got)
	}
	w.wantError("unknown", w.send("GET", "/api/v1/domains/none.example", ""), 404, "none.example")
	w.wantError("backends of unknown", w.send("GET", "/api/v1/domains/none.example/backends", ""), 404)
}

func TestDomainBackends_HavePriorityOfTheirRegion(t *testing.T) {
	w := newWorld(t)
	w.validate(first, check.StateHealthy, "")
	w.agent("198.51.100.7", wire.ClaimHealthy)
	list, err := w.client.DomainBackends(t.Context(), service)
	w.must(err)
	var got []string
	for _, b := range list.Backends {
		got = append(got, fmt.Sprint(b.ID, " ", b.Weight, " ", b.Priority, " ", b.Region, " ", b.Healthy, " ", b.Enabled, " ",
			b.LastCheck != nil))
	}
	want := first + " 100 1 eu true true true\n" + second + " 100 1 eu false true false\n" + service +
		":198.51.100.7:80 50 2 us true true true"
	if strings.Join(got, "\n") != want || list.Total != 3 {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestStats_CountEverything(t *testing.T) {
	w := newWorld(t)
	w.validate(first, check.StateHealthy, "")
	w.validate(second, check.StateUnhealthy, "refused")
	w.agent("192.0.2.2", wire.ClaimHealthy) // disagrees with the validation
	_, err := w.client.SetOverride(t.Context(), service, "192.0.2.1:80",
		api.OverrideRequest{Healthy: new(bool), Reason: "r"})
	w.must(err)
	got, err := w.client.Stats(t.Context())
	w.must(err)
	want := api.Stats{
		TotalBackends: 2, UnhealthyBackends: 2, ActiveOverrides: 1, ValidationEnabled: true, ValidatedBackends: 2,
		DisagreementCount: 1, ActiveAgents: 1, UniqueServices: 1,
		BackendsByService: map[string]int{service: 2}, BackendsByRegion: map[string]int{"eu": 2},
		GeneratedAt: got.GeneratedAt,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestValidate_ChecksWhatWasNamed(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{first, second, "other.example:2001:db8::1:80"} {
		id, err := registry.ParseID(text)
		w.must(err)
		v := registry.CheckResult{ID: id, State: check.StateHealthy, Outcome: check.Success, Latency: 2500 * time.Microsecond}
		if text == second {
			v.Outcome, v.Err = check.Failure, "timeout"
		}
		w.checks.verdicts = append(w.checks.verdicts, v)
	}
	for _, tc := range []struct {
		target api.ValidateTarget
		want   int
	}{{api.ValidateTarget{}, 3}, {api.ValidateTarget{Service: service}, 2},
		{api.ValidateTarget{Address: "[2001:db8::1]"}, 1},
		{api.ValidateTarget{Service: service, Address: "192.0.2.2", Port: 80}, 1}} {
		run, err := w.client.Validate(t.Context(), tc.target)
		if err != nil || run.Checked != tc.want || len(run.Results) != tc.want {
			t.Errorf("%+v: %+v, %v", tc.target, run, err)
		}
	}
	run, err := w.client.Validate(t.Context(), api.ValidateTarget{Address: "192.0.2.2"})
	w.must(err)
	if r := run.Results[0]; r.Healthy || r.LatencyMS != 2.5 || r.Error == nil || *r.Error != "timeout" {
		t.Errorf("got %+v", r)
	}
	for query, words := range map[string]string{"?port=0": "1 to 65535", "?port=x": `"x"`, "?address=nowhere": `"nowhere"`,
		"?addr=192.0.2.1": `"addr"`} {
		w.wantError(query, w.send("POST", "/api/v1/overwatch/validate"+query, ""), 400, words)
	}
	w.wantError("no match", w.send("POST", "/api/v1/overwatch/validate?port=9", ""), 404, "port=9")
	w.checks.err = errors.New("a secret detail")
	r := w.send("POST", "/api/v1/overwatch/validate", "")
	w.wantError("own fault", r, 500, r.header.Get("X-Request-Id"))
	if strings.Contains(r.body, "secret") || !strings.Contains(w.log.String(), "a secret detail") {
		t.Errorf("body %s", r.body)
	}
}

func TestValidate_IsNotImplementedWhereValidationIsOff(t *testing.T) {
	w := newWorld(t)
	w.want("PUT", w.send("PUT", "/api/v1/config/health-check", `{"validation_enabled":false}`), 200)
	w.wantError("validate", w.send("POST", "/api/v1/overwatch/validate", ""), 501, "overwatch.validation.enabled")
}

func TestGossipNodes_AreMembersAndAgents(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Members = func() []gossip.Member {
			return []gossip.Member{
				{Name: "node-2", Address: netip.MustParseAddrPort("[2001:db8::2]:7946"), Region: "eu",
					Status: gossip.StatusDead, RTT: 12 * time.Millisecond},
				{Name: "node-1", Address: netip.MustParseAddrPort("192.0.2.1:7946"), Region: "eu",
					Status: gossip.StatusAlive, Self: true},
			}
		}
	})
	w.agent("198.51.100.7", wire.ClaimHealthy)
	r := w.send("GET", "/api/v1/gossip/nodes", "")
	for _, part := range []string{
		`{"nodes":[{"id":"node-1","name":"node-1","address":"192.0.2.1","port":7946,"status":"alive","state":"self",` +
			`"region":"eu"`,
		`{"id":"node-2","name":"node-2","address":"2001:db8::2","port":7946,"status":"dead","state":"member",` +
			`"region":"eu","rtt_ms":12`,
		`{"id":"agent-1","name":"agent-1","status":"alive","state":"member","region":"us",` +
			`"version":"9.9"`, `"total":3,"healthy":2,`,
	} {
		if r.status != 200 || !strings.Contains(r.body, part) {
			t.Errorf("%d lacks %s:\n%s", r.status, part, r.body)
		}
	}
	for query, want := range map[string]string{"?status=dead": `"total":1,"healthy":0`,
		"?region=us": `"total":1,"healthy":1`, "?limit=1": `"total":3,"healthy":2`} {
		if r := w.send("GET", "/api/v1/gossip/nodes"+query, ""); !strings.Contains(r.body, want) {
			t.Errorf("%s: %s", query, r.body)
		}
	}
	if r := w.send("GET", "/api/v1/gossip/nodes/node-2", ""); r.status != 200 ||
		!strings.HasPrefix(r.body, `{"id":"node-2"`) {
		t.Errorf("one: %d %s", r.status, r.body)
	}
	w.wantError("unknown", w.send("GET", "/api/v1/gossip/nodes/node-9", ""), 404)
	w.wantError("status", w.send("GET", "/api/v1/gossip/nodes?status=leader", ""), 400, "alive, suspect, dead")
}

func TestAgentNodes_ShowWhatPinnedAgentsReport(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	r := w.send("GET", "/api/v1/nodes/agent", "")
	for _, part := range []string{
		`{"nodes":[{"id":"agent-1","name":"agent-1","region":"us","status":"online","version":"9.9",` +
			`"uptime_seconds":100,`,
		`"checks_total":250,"checks_per_sec":2.5,"active_checks":1,"target_count":1,"certificate_expiry":"`,
		`"total":1,"generated_at":"`,
	} {
		if r.status != 200 || !strings.Contains(r.body, part) {
			t.Errorf("%d lacks %s:\n%s", r.status, part, r.body)
		}
	}
	for query, want := range map[string]int{"?status=online": 1, "?status=offline": 0, "?status=pending": 0,
		"?region=us": 1, "?region=eu": 0} {
		if r := w.send("GET", "/api/v1/nodes/agent"+query, ""); !strings.Contains(r.body, fmt.Sprintf(`"total":%d,`, want)) {
			t.Errorf("%s: %s", query, r.body)
		}
	}
	w.wantError("status", w.send("GET", "/api/v1/nodes/agent?status=alive", ""), 400, "online, offline, pending")
	w.wantError("unknown", w.send("GET", "/api/v1/nodes/agent/nobody", ""), 404)
	if _, err := w.client.Revoke(t.Context(), agentName, api.RevokeRequest{Reason: "stolen"}); err != nil {
		t.Fatal(err)
	}
	w.want("revoked", w.send("GET", "/api/v1/nodes/agent/agent-1", ""), 200, `"status":"offline"`, `"checks_total":0`)
}

func TestDomains_HaveTheTimeOfTheirConfiguration(t *testing.T) {
	born := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	w := newWorld(t, func(o *Options) { o.CreatedAt = func(string) time.Time { return born } })
	if r := w.send("GET", "/api/v1/domains/"+service, ""); !strings.Contains(r.body,
		`"created_at":"2025-01-02T03:04:05Z"`) {
		t.Errorf("%s", r.body)
	}
}

// A drained backend is healthy and does not serve. All counts of serving backends agree.
func TestDomains_ADrainedBackendDoesNotServe(t *testing.T) {
	w := newWorld(t)
	w.validate(second, check.StateHealthy, "")
	serving := func() (counts [3]int, d api.Domain) {
		detail, err := w.client.Domain(t.Context(), service)
		w.must(err)
		region := readOf[api.RegionList](w, "/regions").Regions[0]
		return [3]int{detail.Domain.ServingBackends, readOf[api.Stats](w, "/overwatch/stats").ServingBackends,
			region.ServingServers}, detail.Domain
	}
	if counts, d := serving(); counts != [3]int{1, 1, 1} || d.RequiredBackends != 1 ||
		d.AnswerStatus != api.AnswersNormal {
		t.Errorf("before: %v, %+v", counts, d)
	}
	w.want("drain", w.send("POST", "/api/v1/servers/"+second+"/drain", `{"duration":"1ms"}`), 202)
	for end := time.Now().Add(deadline); ; {
		counts, _ := serving()
		if counts == [3]int{} {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("drained: %v", counts)
		}
	}
	if _, d := serving(); d.HealthyBackends != 1 || d.AnswerStatus != api.AnswersNone {
		t.Errorf("drained: %+v", d)
	}
}
