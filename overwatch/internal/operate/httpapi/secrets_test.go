package httpapi // inside: it shares world_test.go

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/settings"
)

// plant sets a distinct value for every secret of a configuration, including secrets that are added later, and returns
// the values.
func plant(v reflect.Value, path string) (planted []string) {
	secret := func() reflect.Value {
		text := fmt.Sprintf("planted-secret-%s-0123456789abcdef", path)
		planted = append(planted, text)
		return reflect.ValueOf(settings.Secret(text))
	}
	switch {
	case v.Type() == reflect.TypeFor[settings.Secret]():
		v.Set(secret())
	case v.Type() == reflect.TypeFor[map[string]settings.Secret]():
		v.Set(reflect.ValueOf(map[string]settings.Secret{"named": secret().Interface().(settings.Secret)}))
	case v.Type() == reflect.TypeFor[[]settings.Secret]():
		v.Set(reflect.ValueOf([]settings.Secret{secret().Interface().(settings.Secret)}))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Tag.Get("key"); name != "" {
				planted = append(planted, plant(v.Field(i), path+"."+name)...)
			}
		}
	}
	return planted
}

// TestSecrets_AreInNoAnswerNoAuditEntryAndNoLine sends all reads and changes to a node whose configuration has distinct
// values for all secrets.
func TestSecrets_AreInNoAnswerNoAuditEntryAndNoLine(t *testing.T) {
	w := newWorld(t)
	cfg := *w.cfg.Load()
	planted := plant(reflect.ValueOf(&cfg).Elem(), "config")
	if len(planted) < 5 {
		t.Fatalf("the configuration has secrets %v only", planted)
	}
	w.cfg.Store(&cfg)
	admin := cfg.API.Tokens.Admin["named"].Reveal()
	seen := strings.Builder{}
	for _, o := range Operations() {
		for _, body := range []string{"", "{}", `{"reason":"r","healthy":true}`, `{"encryption_key":"x"}`} {
			if o.Method == http.MethodGet && body != "" {
				continue
			}
			answer := w.send(o.Method, examplePath(&o), body, "Authorization", "Bearer "+admin)
			if answer.status == http.StatusUnauthorized || answer.status == http.StatusForbidden {
				t.Fatalf("%s %s: %d", o.Method, o.Path, answer.status)
			}
			seen.WriteString(answer.body)
			fmt.Fprint(&seen, answer.header)
		}
	}
	w.writeRefusals()
	for _, room := range []audit.Room{audit.Changes, audit.Refusals} {
		entries := 0
		for e, err := range w.audit.Newest(room) {
			w.must(err)
			fmt.Fprintf(&seen, "%+v %s %s", e, e.Before, e.After)
			entries++
		}
		if entries == 0 {
			t.Errorf("room %d of the audit log is empty", room)
		}
	}
	all := seen.String() + w.log.String() + fmt.Sprintf("%v %+v %#v", cfg, cfg, config.API{Tokens: cfg.API.Tokens})
	for _, secret := range planted {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
}

// The check of a region may contain a password in a header or in its request body. Servers of the API inherit it, and
// keep it when a change of the server is undone.
func TestSecrets_OfARegionsCheckAreInNoAnswerNoAuditEntryAndNoLine(t *testing.T) {
	for kind, check := range map[string]*config.HealthCheck{
		"header": {Type: "http", Path: "/h", Headers: map[string]string{"Authorization": "Bearer s3cret"}},
		"send":   {Type: "tcp", Send: "AUTH s3cret"},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			ofRegion := func(check *config.HealthCheck) {
				cfg := *w.cfg.Load()
				cfg.Regions = slices.Clone(cfg.Regions)
				cfg.Regions[0].HealthCheck = check
				w.cfg.Store(&cfg)
			}
			settings.SetDefaults(check)
			ofRegion(check)
			id, err := registry.ParseID(service + ":192.0.2.9:80")
			w.must(err)
			seen := strings.Builder{}
			send := func(method, path, body string, status int) {
				t.Helper()
				r := w.send(method, "/api/v1"+path, body)
				w.want(method+" "+path+" "+body, r, status)
				seen.WriteString(r.body)
				server, there := w.servers.Get(id)
				if there && !strings.Contains(server.OwnCheck().Detail.String(), "s3cret") {
					t.Errorf("%s %s %s: the check has become %s", method, path, body, server.OwnCheck().Detail)
				}
			}
			const body = `{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu"}`
			path := "/servers/" + id.String()
			for _, step := range []struct {
				method, path, body string
				status             int
			}{
				{"POST", "/servers", body, 201},
				{"PATCH", path, `{"weight":7}`, 200},
				{"PATCH", path + "/health-check", `{"unhealthy_threshold":5}`, 200},
				{"DELETE", path, "", 204},
			} {
				send(step.method, step.path, step.body, step.status)
				send("POST", "/audit-logs/last/undo", "", 200)
				send("POST", "/audit-logs/last/undo", "", 200)
			}
			send("POST", "/audit-logs/last/undo", "", 200) // the secret exists again
			send("PATCH", path+"/health-check", `{"type":"grpc"}`, 400)
			send("POST", "/document/plan", `{"document":{"servers":[`+body+`]}}`, 200)
			send("DELETE", path, "", 204)
			w.writeRefusals()
			for _, path := range []string{"/audit-logs", "/audit-logs?actions=refused", "/audit-logs/1",
				"/audit-logs/export", "/audit-logs/export?format=csv", "/audit-logs/export?format=ndjson", "/events"} {
				send("GET", path, "", 200)
			}
			for where, text := range map[string]string{"answer": seen.String(), "log": w.log.String()} {
				if strings.Contains(text, "s3cret") || !strings.Contains(text, "[redacted]") {
					t.Errorf("the %s has the secret, or no check: %s", where, text)
				}
			}
			var before *api.AuditEntry
			for e, err := range w.audit.Oldest(audit.Changes) {
				w.must(err)
				w.must(e.Follows(before))
				before = &e
			}
			ofRegion(nil) // no object contains the server's secret any more
			w.wantError("undo", w.undo(operations.LastChange), 409, "cannot be undone", "headers")
		})
	}
}
