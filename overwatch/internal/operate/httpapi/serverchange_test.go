package httpapi // inside: it looks at to

import (
	"net/http"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const serverBody = `{"service":"App.Example.","address":"192.0.2.9","port":80,"region":"us"}`

func TestServer_IsOnDiskAndKnownWhenCreated(t *testing.T) {
	w := newWorld(t)
	r := w.send("POST", "/api/v1/servers", serverBody)
	if want := `{"message":"server created","id":"app.example:192.0.2.9:80"}` + "\n"; r.status != 201 || r.body != want {
		t.Fatalf("got %d %s, want 201 %s", r.status, r.body, want)
	}
	got := w.send("GET", "/api/v1/servers/app.example:192.0.2.9:80", "")
	if got.status != 200 || !strings.Contains(got.body, `"weight":100,"region":"us","source":"api"`) {
		t.Errorf("GET: %d %s", got.status, got.body)
	}
	stored, err := w.store.LoadServers()
	if err != nil || len(stored) != 1 || stored[0].Weight != 100 || stored[0].HealthCheck.Type != string(check.TCP) ||
		stored[0].HealthCheck.Interval != 0 {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
	if len(w.flushes) != 1 {
		t.Errorf("DNS was waited for %d times", len(w.flushes))
	}
	w.wantError("again", w.send("POST", "/api/v1/servers", serverBody), 400, "app.example:192.0.2.9:80", "exists")
	w.wantError("static", w.send("POST", "/api/v1/servers", strings.Replace(serverBody, "2.9", "2.1", 1)), 400,
		"app.example:192.0.2.1:80", "exists")
}

func TestServer_RefusesWhatItCannotBe(t *testing.T) {
	w := newWorld(t)
	for from, change := range map[string]struct{ to, words string }{
		`"App.Example."`: {`"none.example"`, `service is "none.example"`},
		`"192.0.2.9"`:    {`"web1"`, `"web1"`},
		`"192.0.2.9",`:   {`"224.0.0.1",`, "224.0.0.1"},
		`80`:             {`0`, "port is 0"},
		`:80`:            {`:65536`, "port is 65536"},
		`80,`:            {`80,"weight":0,`, "weight is 0: give a number from 1 to 1000"},
		`80,"`:           {`80,"weight":1001,"`, "1001"},
		`"region":"us"`:  {`"region":"mars"`, `region is "mars": it must be one of eu, us`},
		`,"region":"us"`: {``, "region is missing"},
		`"address"`:      {`"location"`, `location: unknown field`},
	} {
		body := strings.Replace(serverBody, from, change.to, 1)
		w.wantError(body, w.send("POST", "/api/v1/servers", body), 400, change.words)
	}
	if stored, err := w.store.LoadServers(); err != nil || len(stored) != 0 || len(w.flushes) != 0 {
		t.Errorf("something was changed: %v %v %v", stored, err, w.flushes)
	}
}

func TestServer_PatchChangesOnlyWhatItNames(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "2001:db8::9", "port": 80, "region": "us"})
	w.must(err)
	weight := 7
	_, err = w.client.PatchServer(t.Context(), created.ID, api.ServerChange{"weight": weight})
	w.must(err)
	path := "/api/v1/servers/" + created.ID
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"weight":7,"region":"us"`) {
		t.Errorf("after the patch: %s", r.body)
	}
	w.wantError("weight", w.send("PATCH", path, `{"weight":0}`), 400, "weight is 0")
	w.wantError("region", w.send("PATCH", path, `{"region":""}`), 400, "region is missing")
	w.wantError("static", w.send("PATCH", "/api/v1/servers/app.example:192.0.2.1:80", `{"weight":1}`), 400, "static")
	w.wantError("unknown", w.send("PATCH", "/api/v1/servers/app.example:192.0.2.77:80", `{"weight":1}`), 404)
	if stored, err := w.store.LoadServers(); err != nil || len(stored) != 1 || stored[0].Weight != 7 {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
}

func TestServer_OnlyThoseOfTheAPIAreDeleted(t *testing.T) {
	w := newWorld(t)
	w.agent("198.51.100.7", wire.ClaimHealthy)
	w.wantError("static", w.send("DELETE", "/api/v1/servers/app.example:192.0.2.1:80", ""), 400, "static")
	w.wantError("agent", w.send("DELETE", "/api/v1/servers/app.example:198.51.100.7:80", ""), 400, "agent")
	w.wantError("unknown", w.send("DELETE", "/api/v1/servers/app.example:192.0.2.77:80", ""), 404)
	w.wantError("no id", w.send("DELETE", "/api/v1/servers/x", ""), 400, "<service>:<address>:<port>")
	created, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.9", "port": 80, "region": "us"})
	w.must(err)
	w.must(w.client.DeleteServer(t.Context(), created.ID))
	w.wantError("after", w.send("GET", "/api/v1/servers/"+created.ID, ""), 404)
	if stored, err := w.store.LoadServers(); err != nil || len(stored) != 0 {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
}

func TestServer_ThatCannotBeStoredIsNotThere(t *testing.T) {
	w := newWorld(t)
	w.full.Store(true)
	w.wantError("POST", w.send("POST", "/api/v1/servers", serverBody), 507, "nothing was changed")
	w.wantError("GET", w.send("GET", "/api/v1/servers/app.example:192.0.2.9:80", ""), 404)
}

func TestServer_DrainEndsItsTrafficAndIsTakenBack(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/servers/app.example:192.0.2.1:80/drain"
	for body, words := range map[string]string{`{"duration":"soon"}`: `"soon"`, `{"duration":"-1s"}`: "above zero",
		`{"duration":"25h"}`: "24h", `{"for":"1s"}`: `"for"`} {
		w.wantError(body, w.send("POST", path, body), 400, words)
	}
	w.want("POST without a body", w.send("POST", path, ""), 202, `{"draining":true,"drain_ends_at":"2`)
	w.want("POST", w.send("POST", path, `{"duration":"1h"}`), 202)
	if r := w.send("GET", "/api/v1/servers/app.example:192.0.2.1:80", ""); !strings.Contains(r.body,
		`"draining":true`) {
		t.Errorf("GET: %s", r.body)
	}
	w.want("DELETE", w.send("DELETE", path, ""), 200, `{"draining":false,"drain_ends_at":null,`)
	w.wantError("unknown", w.send("POST", "/api/v1/servers/app.example:192.0.2.77:80/drain", ""), 404)
	w.wantError("unknown", w.send("DELETE", "/api/v1/servers/app.example:192.0.2.77:80/drain", ""), 404)
	entries := w.auditLog("").Total
	w.wantError("not drained", w.send("DELETE", "/api/v1/servers/app.example:192.0.2.2:80/drain", ""), 404,
		"no active or planned drain of")
	w.wantError("no weight", w.send("DELETE", weightPath, ""), 404)
	w.wantError("no override", w.send("DELETE", overridePath, ""), 404)
	if got := w.auditLog("").Total; got != entries {
		t.Errorf("%d audit entries about nothing", got-entries)
	}
}

func TestDomainBackend_IsCreatedAndDeletedAsSpecified(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/domains/app.example/backends"
	r := w.send("POST", path, `{"address":"192.0.2.9","port":80}`)
	if r.status != 201 || !strings.Contains(r.body, `"id":"app.example:192.0.2.9:80"`) {
		t.Fatalf("POST: %d %s", r.status, r.body)
	}
	if r := w.send("GET", "/api/v1/servers/app.example:192.0.2.9:80", ""); !strings.Contains(r.body,
		`"weight":1,"region":"eu"`) {
		t.Errorf("defaults: %s", r.body)
	}
	w.want("a domain without regions", w.send("POST", "/api/v1/domains", `{"name":"regionless.example"}`), 201)
	w.want("a backend of a domain without regions", w.send("POST", "/api/v1/domains/regionless.example/backends",
		`{"address":"192.0.2.9","port":80}`), 201)
	if r := w.send("GET", "/api/v1/servers/regionless.example:192.0.2.9:80", ""); !strings.Contains(r.body,
		`"region":"eu"`) {
		t.Errorf("the region of a domain without any: %s", r.body)
	}
	without := *w.cfg.Load()
	without.Regions = nil
	without.Domains = []config.Domain{{Name: "nowhere.example", RoutingAlgorithm: "weighted"}}
	with := w.cfg.Swap(&without)
	w.want("a backend where there are no regions", w.send("POST", "/api/v1/domains/nowhere.example/backends",
		`{"address":"2001:DB8::9","port":80}`), 201)
	if r := w.send("GET", "/api/v1/servers/nowhere.example:2001:db8::9:80", ""); !strings.Contains(r.body,
		`"region":""`) {
		t.Errorf("the region where there are none: %s", r.body)
	}
	w.wantError("a region that is not there", w.send("POST", "/api/v1/domains/nowhere.example/backends",
		`{"address":"192.0.2.9","port":80,"region":"eu"}`), 400, "region", "eu")
	w.wantError("a server needs one", w.send("POST", "/api/v1/servers",
		`{"service":"nowhere.example","address":"192.0.2.9","port":80}`), 400, "region")
	w.cfg.Store(with)
	w.wantError("again", w.send("POST", path, `{"address":"192.0.2.9","port":80}`), 400, "exists")
	w.wantError("no domain", w.send("POST", "/api/v1/domains/none.example/backends",
		`{"address":"192.0.2.9","port":80}`),
		400, "none.example")
	w.wantError("another domain", w.send("DELETE", "/api/v1/domains/www.example/backends/app.example:192.0.2.9:80", ""),
		404)
	w.wantError("static", w.send("DELETE", path+"/app.example:192.0.2.1:80", ""), 400, "static")
	w.wantError("unknown", w.send("DELETE", path+"/app.example:192.0.2.77:80", ""), 404)
	if r := w.send("DELETE", path+"/app.example:192.0.2.9:80", ""); r.status != 204 || r.body != "" {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
}

// A drain has precedence over a healthy override, and the response to a new override contains this.
func TestOverride_OfABackendThatDrainsSaysWhatEndsThat(t *testing.T) {
	w := newWorld(t)
	const drain, override = "/api/v1/servers/app.example:192.0.2.1:80/drain",
		"/api/v1/overwatch/backends/app.example/192.0.2.1/80/override"
	set := func() string { return w.send("POST", override, `{"healthy":true,"reason":"x"}`).body }
	if body := set(); strings.Contains(body, "drain") {
		t.Errorf("nothing drains: %s", body)
	}
	w.want("POST", w.send("POST", drain, `{"duration":"1h"}`), http.StatusAccepted)
	if body := set(); !strings.Contains(body, "it drains all the same: DELETE "+drain) {
		t.Errorf("%s", body)
	}
}

// A change with an address that cannot be in the answers of its domain is refused.
func TestServers_AreRefusedForADomainWhoseAnswersAreNames(t *testing.T) {
	w := newWorld(t)
	cfg := *w.cfg.Load()
	cfg.Domains = []config.Domain{{Name: service, Answer: config.AnswerCNAME}}
	w.cfg.Store(&cfg)
	for path, body := range map[string]string{
		"/api/v1/servers": `{"service": "` + service +
			`", "address": "192.0.2.77", "port": 80, "region": "eu"}`,
		"/api/v1/domains/" + service + "/backends": `{"address": "192.0.2.77", "port": 80, "region": "eu"}`,
	} {
		w.wantError(path, w.send("POST", path, body), 400, service, "answer: cname", "target")
	}
}
