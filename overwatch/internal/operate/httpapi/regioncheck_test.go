package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// The health check of a region of the API has a secret: changes, documents and undos keep it, and no answer, audit
// entry or log line contains it.
func TestRegion_TheSecretOfItsHealthCheckIsKeptAndNotShown(t *testing.T) {
	w := newWorld(t)
	seen := strings.Builder{}
	send := func(method, path, body string, status int) string {
		t.Helper()
		r := w.send(method, "/api/v1"+path, body)
		w.want(method+" "+path+" "+body, r, status)
		seen.WriteString(r.body)
		return r.body
	}
	kept := func(step string) {
		t.Helper()
		set, _ := w.defined.Defined()
		if r := set.Regions["ap"]; r == nil || r.HealthCheck.Headers["Authorization"] != "Bearer s3cret" {
			t.Errorf("after %s: %+v", step, r)
		}
	}
	send("POST", "/regions", `{"name":"ap","health_check":{"type":"http","path":"/up","timeout":"1s",`+
		`"headers":{"Authorization":"Bearer s3cret"}}}`, 201)
	kept("POST")
	if set, _ := w.defined.Defined(); set.Regions["ap"].HealthCheck.Interval == 0 {
		t.Error("the check has a timeout without an interval")
	}
	send("PATCH", "/regions/ap", `{"priority":7}`, 200)
	send("PATCH", "/regions/ap", `{"health_check":{"path":"/other","headers":{"Authorization":"[redacted]"}}}`, 200)
	kept("PATCH")
	send("PUT", "/regions/ap", `{"name":"ap","health_check":{"type":"http","path":"/put",`+
		`"headers":{"Authorization":"[redacted]"}}}`, 200)
	kept("PUT")
	send("POST", "/audit-logs/last/undo", "", 200)
	kept("an undo")
	exported := send("GET", "/document", "", 200)
	var doc api.Document
	w.must(json.Unmarshal([]byte(exported), &doc))
	w.apply(api.ApplyRequest{Document: doc}, 0)
	doc.Regions[0]["priority"] = 9
	plan := w.apply(api.ApplyRequest{Document: doc}, 1)
	kept("a document")
	if f := plan.Changes[0].Fields; len(f) != 1 || f[0].Name != "priority" {
		t.Errorf("fields %+v", f)
	}
	send("DELETE", "/regions/ap", "", 204)
	if r := w.undo(operations.LastChange); r.status != 409 || !strings.Contains(r.body, "omits the values of headers") {
		t.Errorf("undo of the deletion: %d %s", r.status, r.body)
	}
	for _, path := range []string{"/audit-logs", "/audit-logs/export", "/regions"} {
		send("GET", path, "", 200)
	}
	for where, text := range map[string]string{"answer": seen.String(), "log": w.log.String()} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "[redacted]") {
			t.Errorf("the %s has the secret, or no check: %s", where, text)
		}
	}
}

// A region of the file has the secret in its check, and the API changes another setting of the check.
func TestRegion_AnOverlayChangesTheHealthCheckOfItsServers(t *testing.T) {
	w := newWorld(t)
	w.defined.file.Regions[0].HealthCheck = &config.HealthCheck{Type: "http", Path: "/up",
		Headers: map[string]string{"Authorization": "Bearer s3cret"}}
	r := w.send("PATCH", "/api/v1/regions/eu",
		`{"health_check":{"path":"/other","headers":{"Authorization":"[redacted]"}}}`)
	w.want("PATCH", r, 200, `"fields":{"health_check":{"path":"/other"}}`, `"path":"/up"`)
	if strings.Contains(r.body, "s3cret") {
		t.Errorf("the answer has the secret: %s", r.body)
	}
	set, _ := w.defined.Defined()
	over, err := set.Over(w.defined.file)
	w.must(err)
	if spec := over.CheckIn("eu"); spec.Path != "/other" || !strings.Contains(spec.Detail.String(), "s3cret") {
		t.Errorf("the check is %+v", spec)
	}
	if w.defined.file.Regions[0].HealthCheck.Path != "/up" {
		t.Error("the check of the file has changed")
	}
	w.want("reset", w.send("PATCH", "/api/v1/regions/eu", `{"health_check":null}`), 200)
	if set, _ := w.defined.Defined(); set.Overlay(definitions.OverRegion, "eu") != nil {
		t.Errorf("an overlay is left: %+v", set.Settings)
	}
}

func TestRegion_RefusesAHealthCheckThatCannotBe(t *testing.T) {
	w := newWorld(t)
	for body, words := range map[string]string{
		`{"type":"smoke"}`:                                        "health_check.type",
		`{"type":"http"}`:                                         "health_check.path",
		`{"type":"tcp","address":"192.0.2.1"}`:                    "health_check.address",
		`{"type":"tcp","timeout":"1h"}`:                           "health_check",
		`{"type":"http","path":"/","headers":{"a":"[redacted]"}}`: "health_check: headers",
		`{"path":"/up"}`:                                          "health_check.type",
		`{"type":"tcp","pace":1}`:                                 "health_check.pace",
		`7`:                                                       "health_check",
	} {
		w.wantError(body, w.send("POST", "/api/v1/regions", `{"name":"ap","health_check":`+body+`}`), 400, words)
		w.wantError(body, w.send("POST", "/api/v1/document/plan",
			`{"document":{"regions":[{"name":"ap","health_check":`+body+`}]}}`), 400, words)
	}
}
