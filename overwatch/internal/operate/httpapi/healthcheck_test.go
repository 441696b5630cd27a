package httpapi // inside: it looks at path

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
)

func TestHealthCheck_IsShownOfAllAndChangedForThoseOfTheAPI(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.9", "port": 80, "region": "us"})
	w.must(err)
	path := "/api/v1/servers/" + created.ID + "/health-check"
	r := w.send("PUT", path, `{"type":"http","path":"/up","interval":"7s","expected_status":"204"}`)
	want := `{"server_id":"app.example:192.0.2.9:80","health_check":{"enabled":true,"type":"http","path":"/up",` +
		`"interval":"7s","timeout":"2s","unhealthy_threshold":3,"healthy_threshold":2,"expected_status":"204"}}` + "\n"
	if r.status != 200 || r.body != want {
		t.Errorf("PUT: %d %s", r.status, r.body)
	}
	if r := w.send("GET", path, ""); r.body != want {
		t.Errorf("GET: %s", r.body)
	}
	threshold := 1
	changed, err := w.client.ChangeServerHealthCheck(t.Context(), created.ID,
		api.HealthCheckChange{"unhealthy_threshold": threshold})
	if err != nil || changed.HealthCheck.FailureThreshold != 1 || changed.HealthCheck.Path != "/up" {
		t.Errorf("PATCH: %+v, %v", changed, err)
	}
	stored, err := w.store.LoadServers()
	if err != nil || stored[0].HealthCheck.Path != "/up" || stored[0].HealthCheck.FailureThreshold != 1 ||
		stored[0].HealthCheck.ExpectedStatus != "204" {
		t.Errorf("on disk: %+v, %v", stored, err)
	}
	if shown, err := w.client.ServerHealthCheck(t.Context(), "app.example:192.0.2.1:80"); err != nil ||
		shown.HealthCheck.Type != "tcp" {
		t.Errorf("a static one: %+v, %v", shown, err)
	}
	for body, words := range map[string]string{
		`{}`:                                   "type",
		`{"type":"ping"}`:                      "type",
		`{"type":"http"}`:                      "path",
		`{"type":"tcp","interval":"x"}`:        `interval is "x"`,
		`{"type":"tcp","timeout":"1h"}`:        "timeout",
		`{"type":"tcp","enabled":0}`:           "enabled is 0",
		`{"type":"tcp","healthy_threshold":0}`: "healthy_threshold",
		`{"type":"tcp","port":1}`:              "port: unknown field",
	} {
		w.wantError(body, w.send("PUT", path, body), 400, words)
	}
	w.wantError("static", w.send("PUT", strings.Replace(path, "2.9", "2.1", 1), `{"type":"tcp"}`), 400, "static")
	w.wantError("unknown", w.send("GET", strings.Replace(path, "2.9", "2.77", 1), ""), 404)
}

// A check without its own times uses the node's times, even after a change of these times, until it has its own times.
func TestHealthCheck_TimesAreTheNodesUntilItHasItsOwn(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": service, "address": "192.0.2.9", "port": 80, "region": "us"})
	w.must(err)
	path := "/api/v1/servers/" + created.ID + "/health-check"
	for _, step := range []struct{ method, path, body, interval, timeout string }{
		{"PATCH", path, `{"unhealthy_threshold":2}`, "30s", "5s"},
		{"PUT", "/api/v1/config/health-check", `{"default_interval_seconds":8,"default_timeout_seconds":4}`, "8s",
			"4s"},
		{"PATCH", path, `{"interval":"6s"}`, "6s", "4s"},
		{"PUT", "/api/v1/config/health-check", `{"default_interval_seconds":20,"default_timeout_seconds":10}`, "6s",
			"4s"},
	} {
		if r := w.send(step.method, step.path, step.body); r.status != 200 {
			t.Fatalf("%s %s: %d %s", step.method, step.path, r.status, r.body)
		}
		got, err := w.client.ServerHealthCheck(t.Context(), created.ID)
		if err != nil || got.HealthCheck.Interval.String() != step.interval ||
			got.HealthCheck.Timeout.String() != step.timeout || got.HealthCheck.FailureThreshold != 2 {
			t.Errorf("after %s %s: %+v, %v", step.method, step.body, got, err)
		}
	}
	w.wantError("too short for the node's timeout", w.send("PUT", path, `{"type":"tcp","interval":"1s"}`), 400,
		"timeout")
}

// A disabled check is stored and shown as disabled, also in the document, and the domain contains no check. A node
// without own checks does not store this setting, and cannot enable a check.
func TestHealthCheck_OffForOneServer(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.CreateDomain(t.Context(), api.DomainChange{"name": "off.example"})
	w.must(err)
	created, err := w.client.CreateServer(t.Context(),
		api.ServerChange{"service": "off.example", "address": "192.0.2.9", "port": 80, "region": "us"})
	w.must(err)
	path := "/api/v1/servers/" + created.ID + "/health-check"
	see := func(enabled bool) {
		t.Helper()
		shown, err := w.client.ServerHealthCheck(t.Context(), created.ID)
		w.must(err)
		domain, err := w.client.Domain(t.Context(), "off.example")
		w.must(err)
		doc := w.send("GET", "/api/v1/document", "")
		if *shown.HealthCheck.Enabled != enabled || shown.HealthCheck.Type != "tcp" ||
			(domain.Domain.HealthCheckID != "") != enabled || strings.Contains(doc.body, `"enabled":false`) == enabled {
			t.Errorf("want enabled %t: %+v, health_check_id %q\n%s", enabled, shown, domain.Domain.HealthCheckID,
				doc.body)
		}
	}
	see(true)
	for _, step := range []struct {
		method, path, body string
		status             int
		enabled            bool
	}{
		{"PUT", path, `{"enabled":false}`, 200, false},
		{"PATCH", path, `{"interval":"7s"}`, 200, false},
		{"PATCH", path, `{"enabled":true}`, 200, true},
		{"PATCH", path, `{"enabled":false}`, 200, false},
		{"PUT", path, `{"type":"tcp"}`, 200, true},
	} {
		if r := w.send(step.method, step.path, step.body); r.status != step.status {
			t.Fatalf("%s %s: %d %s", step.method, step.body, r.status, r.body)
		}
		see(step.enabled)
	}
	_, err = w.client.ChangeHealthCheckConfig(t.Context(), api.HealthCheckConfigChange{ValidationEnabled: new(bool)})
	w.must(err)
	w.wantError("on", w.send("PATCH", path, `{"enabled":true}`), 400, "overwatch.validation.enabled is false")
	w.want("off where nothing is checked", w.send("PATCH", path, `{"enabled":false}`), 200)
	if stored, err := w.store.LoadServers(); err != nil || stored[0].HealthCheck.Off() {
		t.Errorf("%+v, %v", stored, err)
	}
}
