package httpapi // inside: it uses the world

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/shared/api"
)

const (
	targetBody = `{"service":"App.example.","target":"LB.example.net.","port":443,"region":"eu"}`
	targetPath = "/api/v1/servers/app.example:lb.example.net:443"
)

// resolved declares an address of the server of targetBody, as package control does.
func (w *world) resolved(address string) {
	w.t.Helper()
	id, err := registry.ParseID("app.example:" + address + ":443")
	w.must(err)
	w.must(w.registry.AddStaticDeclarations(w.t.Context(), []registry.Declaration{{ID: id, Weight: 100, Region: "eu",
		Host: registry.Host{Name: "lb.example.net", Addresses: 1, FromAPI: true}}}))
}

// The API creates, shows, changes and deletes a server with a host name like a server with an address.
func TestTargets_LiveAsOtherServersDo(t *testing.T) {
	w := newWorld(t)
	w.want("created", w.send("POST", "/api/v1/servers", targetBody), 201, "app.example:lb.example.net:443")
	w.resolved("192.0.2.77")
	list, err := w.client.Servers(t.Context())
	w.must(err)
	if len(list.Targets) != 1 || list.Targets[0].Weight != 100 || len(list.Targets[0].Addresses) != 1 {
		t.Fatalf("listed: %+v", list.Targets)
	}
	for _, one := range list.Servers {
		if one.Address == "192.0.2.77" && (one.Source != api.SourceAPI || one.Target != "lb.example.net") {
			t.Errorf("its address is listed as %+v", one)
		}
	}
	for _, step := range []struct{ method, path, body, want string }{
		{"PATCH", targetPath, `{"weight":7,"region":"us","allowed_cidrs":["10.0.0.0/8"]}`, "server changed"},
		{"GET", targetPath, "",
			`"allowed_cidrs":["10.0.0.0/8"],"port":443,"weight":7,"service":"app.example","region":"us"`},
		{"PATCH", targetPath + "/health-check", `{"type":"http","path":"/up"}`, `"path":"/up"`},
		{"PATCH", targetPath + "/health-check", `{"interval":"9s"}`, `"interval":"9s"`},
		{"GET", targetPath + "/health-check", "", `"type":"http","path":"/up","interval":"9s"`},
		{"PUT", targetPath + "/health-check", `{"type":"tcp"}`, `"interval":"5s"`},
		{"GET", targetPath + "/health-check", "", `"type":"tcp"`},
		{"POST", "/api/v1/routing/consequences", `{"backends":["app.example:lb.example.net:443"],"removed":true}`,
			`"names":[`},
	} {
		if r := w.send(step.method, step.path, step.body); r.status != 200 || !strings.Contains(r.body, step.want) {
			t.Errorf("%s %s: %+v, want %s", step.method, step.path, r, step.want)
		}
	}
	tag := w.send("GET", targetPath, "").header.Get("ETag")
	w.wantError("an old tag", w.send("PATCH", targetPath, `{"weight":8}`, "If-Match", `"0"`), 412)
	w.want("deleted", w.send("DELETE", targetPath, "", "If-Match", tag), 204)
	w.wantError("gone", w.send("GET", targetPath, ""), 404, "no server app.example:lb.example.net:443")
	if e := w.lastAudit(); e.Action != api.AuditDelete || e.Resource != "server" ||
		e.ResourceID != "app.example:lb.example.net:443" {
		t.Errorf("audit entry %+v", e)
	}
}

func TestTargets_RefuseWhatCannotBe(t *testing.T) {
	w := newWorld(t)
	w.send("POST", "/api/v1/servers", targetBody)
	w.resolved("192.0.2.77")
	body := func(field, value string) string {
		var fields map[string]any
		w.must(json.Unmarshal([]byte(strings.ReplaceAll(targetBody, "LB.", "other.")), &fields))
		var v any
		w.must(json.Unmarshal([]byte(value), &v))
		fields[field] = v
		text, err := json.Marshal(fields)
		w.must(err)
		return string(text)
	}
	for _, one := range []struct {
		method, path, body string
		status             int
		word               string
	}{
		{"POST", "/api/v1/servers", targetBody, 400, "exists already"},
		{"POST", "/api/v1/servers", body("address", `"192.0.2.1"`), 400, "remove one of the two"},
		{"POST", "/api/v1/servers", body("target", `"192.0.2.300"`), 400, "ends in a number"},
		{"POST", "/api/v1/servers", body("target", `"a b"`), 400, "target"},
		{"POST", "/api/v1/servers", body("target", `"www.example"`), 400, "lead to itself"},
		{"POST", "/api/v1/servers", body("port", `0`), 400, "port"},
		{"POST", "/api/v1/servers", body("weight", `0`), 400, "weight is 0"},
		{"POST", "/api/v1/servers", body("region", `"ap"`), 400, "eu, us"},
		{"POST", "/api/v1/servers", body("service", `"unknown.example"`), 400, "unknown.example"},
		{"POST", "/api/v1/servers", body("agent", `"a b"`), 400, "agent"},
		{"POST", "/api/v1/servers", body("allowed_cidrs", `["10.0.0.1/8"]`), 400, "allowed_cidrs"},
		{"POST", "/api/v1/servers",
			`{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu","allowed_cidrs":["10.0.0.0/8"]}`,
			400,
			"for the addresses of a target"},
		{"PATCH", targetPath, `{"weight":1001}`, 400, "weight is 1001"},
		{"PATCH", targetPath, `{"region":"ap"}`, 400, "eu, us"},
		{"PATCH", targetPath + "/health-check", `{"interval":"x"}`, 400, "interval"},
		{"PATCH", strings.Replace(targetPath, "lb.", "other.", 1), `{"weight":1}`, 404,
			"it has app.example:lb.example.net:443"},
		{"DELETE", strings.Replace(targetPath, "lb.", "other.", 1), "", 404, "no server"},
		{"PATCH", "/api/v1/servers/app.example:192.0.2.77:443", `{"weight":1}`, 400,
			"is an address of app.example:lb.example.net:443"},
		{"DELETE", "/api/v1/servers/app.example:192.0.2.77:443", "", 400, "is an address of"},
		{"POST", targetPath + "/drain", "", 400, "one of its addresses"},
	} {
		w.wantError(one.method+" "+one.path+" "+one.body, w.send(one.method, one.path, one.body), one.status, one.word)
	}
	w.want("POST", w.send("POST", "/api/v1/regions", `{"name":"ap"}`), http.StatusCreated)
	w.want("PATCH", w.send("PATCH", targetPath, `{"region":"ap"}`), 200)
	w.wantError("a region in use", w.send("DELETE", "/api/v1/regions/ap", ""), 409, "app.example:lb.example.net:443")
}

// A domain whose answers are names only has servers with host names.
func TestTargets_AreWhatADomainIsAnsweredWith(t *testing.T) {
	w := newWorld(t)
	for path, body := range map[string]string{"/api/v1/domains/" + service: `{"answer":"cname"}`,
		"/api/v1/domains/www.example": `{"answer":"name"}`} {
		w.wantError(path, w.send("PATCH", path, body), 400, "answer")
	}
	for _, step := range []struct {
		method, path, body string
		status             int
		words              string
	}{
		{"POST", "/api/v1/domains", `{"name":"cdn.example","answer":"cname"}`, 201, `"answer":"cname"`},
		{"POST", "/api/v1/domains", `{"name":"b.example","answer":"cname","srv":["_sip._tcp"]}`, 400, "srv"},
		{"POST", "/api/v1/servers", `{"service":"cdn.example","address":"192.0.2.1","port":80,"region":"eu"}`, 400,
			"give a host name as target"},
		{"POST", "/api/v1/servers", `{"service":"cdn.example","target":"lb.example.net","port":80,"region":"eu"}`, 201,
			""},
		{"PATCH", "/api/v1/domains/www.example", `{"answer":"cname"}`, 200, `"answer":"cname"`},
		{"GET", "/api/v1/document", "", 200, `"answer":"cname"`},
		{"PATCH", "/api/v1/domains/cdn.example", `{"answer":"address"}`, 200, ""},
		{"POST", "/api/v1/servers", `{"service":"cdn.example","address":"192.0.2.1","port":80,"region":"eu"}`, 201, ""},
	} {
		if r := w.send(step.method, step.path, step.body); r.status != step.status || !strings.Contains(r.body,
			step.words) {
			t.Errorf("%s %s %s: %+v, want %d with %s", step.method, step.path, step.body, r, step.status, step.words)
		}
	}
	w.refuses(api.ApplyRequest{Document: api.Document{
		Domains: []api.DocumentDomain{{"name": "doc.example", "answer": "cname"}},
		Servers: []api.DocumentServer{{"service": "doc.example", "address": "192.0.2.1", "port": 80,
			"region": "eu"}}}}, 400, "servers[0]", "give a host name as target")
}

// A document can contain servers with host names, and prune deletes those of its owner.
func TestTargets_AreOfDocuments(t *testing.T) {
	w := newWorld(t)
	doc := api.Document{Servers: []api.DocumentServer{{"service": service,
		"target": "lb.example.net", "port": 443, "region": "eu", "allowed_cidrs": []string{"10.0.0.0/8"},
		"health_check": api.HealthCheckChange{"type": "http", "path": "/up"}}}}
	w.apply(api.ApplyRequest{Document: doc, Owner: "shop"}, 1)
	w.apply(api.ApplyRequest{Document: doc, Owner: "shop", Prune: true}, 0)
	exported, err := w.client.Document(t.Context())
	w.must(err)
	if len(exported.Servers) != 1 || exported.Servers[0].Text("target") != "lb.example.net" ||
		exported.Servers[0].Has("address") || !strings.Contains(fmt.Sprintf("%s", exported.Servers[0]["health_check"]),
		"/up") {
		t.Fatalf("exported: %+v", exported.Servers)
	}
	w.apply(api.ApplyRequest{Document: exported}, 0)
	doc.Servers[0]["weight"] = 9
	plan := w.apply(api.ApplyRequest{Document: doc, Owner: "shop"}, 1)
	if one := plan.Changes[0]; one.Action != api.PlanUpdate || len(one.Fields) != 1 || one.Fields[0].Name != "weight" {
		t.Errorf("the plan: %+v", plan.Changes)
	}
	for word, edit := range map[string]api.DocumentServer{
		"ends in a number":  {"target": "192.0.2.300"},
		"it must be one of": {"region": "ap"},
		"name of a domain":  {"service": "unknown.example"},
		"lead to itself":    {"target": "www.example"},
		"interval":          {"health_check": map[string]any{"interval": "x"}},
	} {
		bad := maps.Clone(doc.Servers[0])
		maps.Copy(bad, edit)
		w.refuses(api.ApplyRequest{Document: api.Document{Servers: []api.DocumentServer{bad}}, Owner: "shop"}, 400,
			"servers[0]", word)
	}
	w.apply(api.ApplyRequest{Document: api.Document{}, Owner: "shop", Prune: true}, 1)
}
