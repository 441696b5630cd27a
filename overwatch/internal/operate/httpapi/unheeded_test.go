package httpapi // inside: it looks at path

import (
	"strings"
	"testing"
)

// A request with a field that no code reads is refused and changes nothing, because the client would assume an effect.
func TestChange_WhatNothingReadsIsRefused(t *testing.T) {
	w := newWorld(t)
	w.want("POST", w.send("POST", "/api/v1/servers",
		`{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu"}`), 201)
	const mine = "/api/v1/servers/app.example:192.0.2.9:80"
	for _, test := range []struct {
		method, path, body string
		header             []string
		words              []string
	}{
		{"DELETE", mine + "?dry_run=true", "", nil, []string{"dry_run"}},
		{"PATCH", mine + "?weight=5", `{"weight":5}`, nil, []string{`"weight"`, "known are wait_for_peers"}},
		{"POST", "/api/v1/domains?enabled=false", `{"name":"n.example"}`, nil, []string{"enabled"}},
		{"POST", "/api/v1/domains", `{"name":"n.example"}`, []string{"If-Match", `"x"`}, []string{"If-Match", "POST"}},
		{"POST", mine + "/drain", "", []string{"If-Match", `"x"`}, []string{"If-Match"}},
		{"POST", "/api/v1/regions", `{"name":"ap"}`, []string{"If-None-Match", "*"}, []string{"If-None-Match"}},
		{"POST", "/api/v1/config/reload", `{"force":true}`, nil, []string{`"force"`, "known are none"}},
		{"POST", "/api/v1/gossip/generate-key", `{"bits":128}`, nil, []string{`"bits"`}},
		{"POST", "/api/v1/gossip/generate-key?bits=128", "", nil, []string{`"bits"`}},
		{"POST", "/api/v1/overwatch/validate", `{"service":"app.example"}`, nil, []string{`"service"`}},
	} {
		w.wantError(test.method+" "+test.path, w.send(test.method, test.path, test.body, test.header...), 400, test.words...)
	}
	w.wantError("encoded", w.send("POST", "/api/v1/domains", `{"name":"n.example"}`, "Content-Encoding", "gzip"), 415,
		"gzip")
	w.want("afterwards", w.send("GET", mine, ""), 200, `"weight":100,`, `"draining":false`)
	w.wantError("not made", w.send("GET", "/api/v1/domains/n.example", ""), 404)
	w.wantError("not made", w.send("GET", "/api/v1/regions/ap", ""), 404)
	w.want("an empty object says nothing", w.send("POST", "/api/v1/config/reload", `{}`), 200)
}

// Error messages are plain text, and contain the object.
func TestProblem_NamesTheObjectInPlainText(t *testing.T) {
	w := newWorld(t)
	const none = "/api/v1/servers/app.example:192.0.2.99:80"
	for _, method := range []string{"POST", "DELETE"} {
		w.wantError(method, w.send(method, none+"/drain", ""), 404, "app.example:192.0.2.99:80")
	}
	if r := w.send("GET", "/api/v1/overrides/app.example/x", ""); !strings.Contains(r.body,
		"it must be <ip> or <ip>:<port>") {
		t.Errorf("%+v", r)
	}
	for field, body := range map[string]string{
		"regions": `{"name":"n.example","regions":["eu",5]}`, "enabled": `{"name":"n.example","enabled":"yes"}`,
		"ttl": `{"name":"n.example","ttl":"30"}`,
	} {
		w.wantError(body, w.send("POST", "/api/v1/domains", body), 400, field+" is ")
	}
	w.wantError("an element", w.send("POST", "/api/v1/domains", `{"name":"n.example","regions":["eu",5]}`), 400,
		`regions is ["eu",5]: give a list of strings`)
	w.wantError("a time", w.send("PUT", "/api/v1/preferences", `{"updated_at":"now"}`), 400, `now is not a time`)
	w.want("what the answer shows as null", w.send("PUT", "/api/v1/preferences", `{"updated_at":null}`), 200)
}

func TestAudit_CallsThingsByTheirNames(t *testing.T) {
	w := newWorld(t)
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/api/v1/servers", `{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu"}`},
		{"PATCH", "/api/v1/servers/app.example:192.0.2.9:80", `{"weight":5}`},
		{"DELETE", "/api/v1/servers/app.example:192.0.2.9:80", ""},
		{"POST", "/api/v1/domains/app.example/backends", `{"address":"192.0.2.9","port":80}`},
		{"DELETE", "/api/v1/domains/app.example/backends/app.example:192.0.2.9:80", ""},
		{"POST", "/api/v1/overwatch/validate", ""},
		{"POST", "/api/v1/servers/app.example:192.0.2.1:80/drain", `{"duration":"1h"}`},
		{"DELETE", "/api/v1/servers/app.example:192.0.2.1:80/drain", ""},
	} {
		if got := w.send(r.method, r.path, r.body); got.status >= 300 {
			t.Fatalf("%+v: %+v", r, got)
		}
	}
	for query, want := range map[string]int{"?resources=server": 5, "?actions=drain": 1, "?actions=undrain": 1,
		"?resources=backend": 3, "?actions=validate": 1,
		"?actions=create,delete": 4, "?resources=server,backend&actions=update": 1} {
		if got := w.auditLog(query); got.Total != want {
			t.Errorf("%s: %d entries, want %d", query, got.Total, want)
		}
	}
	drained, undrained := w.auditLog("?actions=drain").Entries[0], w.auditLog("?actions=undrain").Entries[0]
	for _, state := range []struct{ got, want string }{
		{string(drained.Before), `null`}, {string(drained.After), `"kind":"drain","service":"app.example"`},
		{string(undrained.Before), `"duration":"1h0m0s"`}, {string(undrained.After), `null`},
	} {
		if !strings.Contains(state.got, state.want) {
			t.Errorf("drain and its end: %s does not say %s", state.got, state.want)
		}
	}
	w.wantError("an action", w.send("GET", "/api/v1/audit-logs?actions=create,made", ""), 400, `"made"`, "revoke")
	w.wantError("a resource", w.send("GET", "/api/v1/audit-logs/export?resources=servers", ""), 400, `"servers"`,
		"server, region")
	w.wantError("a time", w.send("GET", "/api/v1/audit-logs?start_time=2027-01-01T00:00:00Z&end_time=2026-01-01T00:00:00Z",
		""), 400, "end_time")
}
