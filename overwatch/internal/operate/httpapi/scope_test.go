package httpapi // inside: it runs the table of operations

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// canary is in the texts of all objects outside the scopes.
const canary = "canary"

// scopedWorld is a world with objects inside and outside of scopes, and returns the tokens of the scopes by name.
func scopedWorld(t *testing.T) (*world, map[string]string) {
	t.Helper()
	w := newWorld(t)
	withFileTokens(w)
	admin := bearerOf(tokenOf("admin"))
	for _, side := range []string{"inside", canary} {
		document := strings.ReplaceAll(`{"owner":"SIDE-owner","document":{
			"regions":[{"name":"SIDE","description":"the SIDE"}],
			"domains":[{"name":"SIDE.test","description":"the SIDE","regions":["SIDE"]}],
			"servers":[{"service":"SIDE.test","address":"ADDRESS","port":80,"region":"SIDE"},
				{"service":"SIDE.test","target":"SIDE.example.net","port":80,"region":"SIDE","allowed_cidrs":["10.0.0.0/8"]}],
			"records":[{"name":"text.SIDE.test","type":"TXT","data":["\"SIDE\""]}],
			"mappings":[{"cidr":"ADDRESS/32","region":"SIDE","comment":"the SIDE"}]}}`, "SIDE", side)
		document = strings.ReplaceAll(document, "ADDRESS", addressOf(side))
		w.want("apply "+side, w.send("POST", "/api/v1/document/apply", document, admin...), 200)
		backend := "/" + side + ".test/" + addressOf(side)
		w.want("override "+side, w.send("PUT", "/api/v1/overrides"+backend+":80", `{"healthy":true,"reason":"`+side+`"}`,
			admin...), 200)
		w.want("weight "+side, w.send("PUT", "/api/v1/overwatch/backends"+backend+"/80/weight",
			`{"weight":7,"reason":"`+side+`"}`, admin...), 200)
		w.want("change "+side, w.send("PATCH", "/api/v1/domains/"+side+".test", `{"tags":["`+side+`"]}`, admin...), 200)
		w.journal.Add(api.Event{Kind: api.EventBackend, State: "unhealthy", Severity: api.EventWarning,
			Subject: side + ".test:" + addressOf(side) + ":80", Name: side + ".test", Region: side, Sentence: "the " + side})
	}
	w.want("overlay", w.send("PATCH", "/api/v1/domains/www.example", `{"regions":["inside"]}`, admin...), 200)
	tokens := map[string]string{}
	for name, scope := range map[string]string{
		"zone": `"zones":["inside.test"]`, "name": `"names":["inside.test"]`, "wildcard": `"names":["*.inside.test"]`,
		"region": `"regions":["inside"]`, "owner": `"owners":["inside-owner"]`,
		"zone-region": `"zones":["inside.test"],"regions":["inside"]`,
		"kind-zone":   `"kinds":["domain","server"],"zones":["inside.test"]`,
		"kind-owner":  `"kinds":["drain","override","weight","failback"],"owners":["inside-owner"]`,
		"all":         `"zones":["inside.test"],"regions":["inside"],"owners":["inside-owner"]`,
	} {
		for _, action := range append(model.TokenActions(), "") {
			body := `{"name":"` + name + `-` + action + `","role":"admin","scope":{` + scope
			if action != "" {
				body += `,"actions":["` + action + `"]`
			}
			tokens[name+"-"+action] = createToken(w, body+`}}`)
		}
	}
	return w, tokens
}

func addressOf(side string) string {
	if side == canary {
		return "192.0.2.66"
	}
	return "192.0.2.55"
}

// aboutSide returns the path and the body of an operation about the objects of a side.
func aboutSide(o *Operation, side string) (path, body string) {
	id := side + ".test:" + addressOf(side) + ":80"
	path = strings.NewReplacer("regions/{id}", "regions/"+side, "agent/{id}", "agent/"+side, "nodes/{id}", "nodes/node-1",
		"overwatch/{id}", "overwatch/node-1", "algorithms/{id}", "algorithms/weighted", "{agent_id}", side, "{id}", id,
		"{service}", side+".test", "{name}", side+".test", "{address}", addressOf(side), "{port}", "80", "{cidr}",
		addressOf(side)+"/32", "{zone}", side+".test", "{type}", "TXT").Replace(o.Path)
	if text, is := o.Body.(string); is {
		return path, text
	}
	if o.Body == nil {
		return path, ""
	}
	encoded, _ := json.Marshal(o.Body)
	return path, strings.NewReplacer("app.example.com", side+".test", "eu-west", side, "192.0.2.1", addressOf(side),
		`"main"`, `"`+side+`"`, "198.51.100.0/24", addressOf(side)+"/32", "Western Europe", side).Replace(string(encoded))
}

// outsideState returns the state that no token of a scope may change, as an admin sees it.
func outsideState(w *world) string {
	var all []string
	for _, path := range []string{"/document", "/overwatch/orders", "/config/overlays", "/tokens", "/config/dns"} {
		r := w.send("GET", "/api/v1"+path, "", bearerOf(tokenOf("admin"))...)
		var fields map[string]any
		_ = json.Unmarshal([]byte(r.body), &fields)
		for list, value := range fields {
			elements, _ := value.([]any)
			for _, element := range elements {
				if text := fmt.Sprint(element); !strings.Contains(text, "inside") || strings.Contains(text, canary) {
					all = append(all, list+" "+text)
				}
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// Each operation of the table rejects each scope for objects outside, discloses no text of them, and changes none of
// them. A new operation is included, and rejected until it declares its objects.
func TestScopes_NoOperationReachesObjectsOutside(t *testing.T) {
	w, tokens := scopedWorld(t)
	before := outsideState(w)
	entries := canaryEntries(w)
	for name, token := range tokens {
		for _, o := range Operations() {
			if o.LeastRole() == api.RoleNone {
				continue
			}
			path, body := aboutSide(&o, canary)
			what := o.Method + " " + path + " with " + name
			paths := []string{path}
			if strings.Contains(o.Path, "audit-logs/{id}") {
				paths = nil
				for _, id := range entries {
					paths = append(paths, strings.ReplaceAll(o.Path, "{id}", id))
				}
			}
			for _, path := range paths {
				r := w.send(o.Method, path, body, append(bearerOf(token), "X-Change-Id", "scope")...)
				disclosed := strings.Contains(strings.ReplaceAll(r.body, canary+".test", ""), canary)
				listing := o.filters && o.Method == get && !strings.Contains(o.Path, "{")
				if !listing && r.status != http.StatusForbidden {
					t.Errorf("%s: %d %.300s", what, r.status, r.body)
				} else if disclosed || listing && strings.Contains(r.body, canary) {
					t.Errorf("%s discloses an object: %d %.300s", what, r.status, r.body)
				}
			}
		}
	}
	if after := outsideState(w); after != before {
		t.Errorf("objects outside changed:\n%s\nbefore:\n%s", after, before)
	}
}

// canaryEntries returns the ids of the audit entries about objects outside.
func canaryEntries(w *world) (ids []string) {
	r := w.send("GET", "/api/v1/audit-logs?limit=1000", "", bearerOf(tokenOf("admin"))...)
	var list api.AuditList
	w.must(json.Unmarshal([]byte(r.body), &list))
	for _, e := range list.Entries {
		if strings.Contains(fmt.Sprintf("%s %s %s", e.ResourceID, e.Before, e.After), canary) {
			ids = append(ids, fmt.Sprint(e.ID))
		}
	}
	if len(ids) < 4 {
		w.t.Fatalf("only the entries %v", ids)
	}
	return ids
}

// A request about an object inside cannot move it outside, or take an object from outside.
func TestScopes_NoChangeCrossesTheScope(t *testing.T) {
	w, tokens := scopedWorld(t)
	before := outsideState(w)
	for _, tc := range []struct{ token, method, path, body string }{
		{"region-", "PATCH", "/domains/inside.test", `{"regions":["inside","canary"]}`},
		{"region-", "PATCH", "/domains/inside.test", `{"regions":[]}`},
		{"region-", "PATCH", "/servers/inside.test:192.0.2.55:80", `{"region":"canary"}`},
		{"region-", "PATCH", "/servers/inside.test:inside.example.net:80", `{"region":"canary"}`},
		{"region-", "POST", "/servers", `{"service":"inside.test","address":"192.0.2.9","port":80,"region":"canary"}`},
		{"region-", "PUT", "/geo/mappings", `{"cidr":"192.0.2.66/32","region":"inside"}`},
		{"region-", "PUT", "/geo/mappings", `{"cidr":"192.0.2.55/32","region":"canary"}`},
		{"zone-", "POST", "/domains", `{"name":"canary.test"}`},
		{"zone-", "POST", "/domains", `{"name":"other.test"}`},
		{"zone-", "POST", "/domains/inside.test/backends", `{"address":"192.0.2.9","port":80,"service":"canary.test"}`},
		{"owner-", "POST", "/domains", `{"name":"new.inside.test"}`},
		{"zone-", "POST", "/records", `{"name":"text.canary.test","type":"TXT","data":["\"x\""]}`},
		{"zone-", "DELETE", "/records/text.canary.test/TXT", ""},
		{"owner-", "POST", "/document/apply", `{"owner":"canary-owner","prune":true,"document":{}}`},
		{"owner-", "POST", "/document/apply", `{"document":{"domains":[{"name":"canary.test"}]}}`},
		{"owner-", "POST", "/document/apply", `{"owner":"inside-owner","document":{"domains":[{"name":"canary.test"}]}}`},
		{"zone-", "POST", "/document/apply", `{"document":{"settings":[{"section":"dns","values":{"ttl":9}}]}}`},
		{"zone-", "POST", "/document/apply", `{"document":{"agents":[{"name":"a1"}]}}`},
		{"zone-", "POST", "/document/plan", `{"document":{"servers":[{"service":"canary.test","address":"192.0.2.66",
			"port":80,"region":"canary"}]}}`},
		{"kind-zone-", "PUT", "/overrides/inside.test/192.0.2.55:80", `{"healthy":false,"reason":"r"}`},
		{"zone-read", "PATCH", "/domains/inside.test", `{"ttl":5}`},
		{"zone-operate", "PATCH", "/domains/inside.test", `{"ttl":5}`},
		{"zone-define", "GET", "/domains/inside.test", ""},
		{"region-", "DELETE", "/domains/www.example/overlay", ""},
		{"region-", "PATCH", "/domains/www.example", `{"regions":null}`},
		{"region-", "PATCH", "/domains/www.example", `{"regions":[]}`},
		{"zone-", "POST", "/records", `{"name":"x\\.inside.test","type":"TXT","data":["\"x\""]}`},
		{"zone-", "GET", "/audit-logs/999999", ""},
		{"zone-", "POST", "/audit-logs/999999/undo", ""},
	} {
		r := w.send(tc.method, "/api/v1"+tc.path, tc.body, bearerOf(tokens[tc.token])...)
		pruned := strings.Contains(tc.body, "prune") // of an empty set
		if r.status < 400 && !pruned || strings.Contains(r.body, "canary-owner") {
			t.Errorf("%s %s %s with %s: %d %s", tc.method, tc.path, tc.body, tc.token, r.status, r.body)
		}
	}
	if after := outsideState(w); after != before {
		t.Errorf("objects outside changed:\n%s\nbefore:\n%s", after, before)
	}
}

// Tokens can work with the objects of their scopes, in all ways that the objects of an admin have.
func TestScopes_ObjectsInsideAreUsable(t *testing.T) {
	w, tokens := scopedWorld(t)
	for _, tc := range []struct {
		token, method, path, body string
		part                      string
	}{
		{"zone-read", "GET", "/domains", "", `"inside.test"`},
		{"zone-read", "GET", "/servers", "", "192.0.2.55"},
		{"zone-read", "GET", "/servers", "", "inside.example.net"},
		{"owner-read", "GET", "/document", "", "inside-owner"},
		{"region-read", "GET", "/regions", "", `"inside"`},
		{"region-read", "GET", "/geo/mappings", "", "192.0.2.55"},
		{"region-read", "GET", "/metrics/regions/inside", "", ""},
		{"zone-read", "GET", "/records", "", "text.inside.test"},
		{"owner-read", "GET", "/records/text.inside.test/TXT", "", "text.inside.test"},
		{"all-read", "GET", "/overwatch/orders", "", "inside.test"},
		{"all-read", "GET", "/events", "", "the inside"},
		{"zone-read", "GET", "/audit-logs", "", "inside.test"},
		{"all-operate", "PUT", "/overrides/inside.test/192.0.2.55:80", `{"healthy":false,"reason":"r"}`, "inside.test"},
		{"kind-owner-operate", "POST", "/servers/inside.test:192.0.2.55:80/drain", "", "draining"},
		{"zone-define", "PATCH", "/domains/inside.test", `{"ttl":17}`, `"ttl":17`},
		{"zone-", "POST", "/audit-logs/last/undo", "", "is undone"},
		{"zone-define", "POST", "/domains", `{"name":"new.inside.test"}`, "new.inside.test"},
		{"region-define", "POST", "/domains", `{"name":"new.test","regions":["inside"]}`, "new.test"},
		{"region-define", "PATCH", "/regions/inside", `{"description":"x"}`, "inside"},
		{"all-define", "PATCH", "/servers/inside.test:192.0.2.55:80", `{"weight":9}`, "inside.test"},
		{"owner-", "POST", "/document/plan", `{"owner":"inside-owner","document":{"servers":[{"service":"inside.test",
			"address":"192.0.2.56","port":80,"region":"inside"}]}}`, "192.0.2.56"},
		{"owner-", "POST", "/document/apply", `{"owner":"inside-owner","document":{"servers":[{"service":"inside.test",
			"address":"192.0.2.56","port":80,"region":"inside"}]}}`, "192.0.2.56"},
	} {
		if tc.path == "/audit-logs/last/undo" { // of a change by the same token
			w.want("change", w.send("PATCH", "/api/v1/domains/inside.test", `{"ttl":18}`, bearerOf(tokens[tc.token])...), 200)
		}
		r := w.send(tc.method, "/api/v1"+tc.path, tc.body, bearerOf(tokens[tc.token])...)
		if r.status >= 300 || !strings.Contains(r.body, tc.part) {
			t.Errorf("%s %s with %s: %d %s", tc.method, tc.path, tc.token, r.status, r.body)
		}
	}
}

// A token whose scope has only actions cannot exceed them by an undo or by another token.
func TestScopes_ActionsLimitUndoAndTokens(t *testing.T) {
	w, _ := scopedWorld(t)
	limited := createToken(w, `{"name":"operator","role":"admin","scope":{"actions":["operate","read"]}}`)
	definer := createToken(w, `{"name":"definer","role":"admin","scope":{"actions":["define"]}}`)
	created := w.send("POST", "/api/v1/domains", `{"name":"kept.test"}`, bearerOf(tokenOf("admin"))...)
	w.want("create", created, 201)
	r := w.send("GET", "/api/v1/audit-logs?limit=1", "", bearerOf(tokenOf("admin"))...)
	var list api.AuditList
	w.must(json.Unmarshal([]byte(r.body), &list))
	undo := fmt.Sprintf("/api/v1/audit-logs/%d/undo", list.Entries[0].ID)
	w.wantError("undo", w.send("POST", undo, "", bearerOf(limited)...), 403, "the action define")
	w.wantError("create", w.send("POST", "/api/v1/tokens", `{"name":"wider","role":"admin"}`, bearerOf(definer)...), 403,
		"has a scope")
	w.wantError("rotate", w.send("POST", "/api/v1/tokens/operator/rotate", "", bearerOf(definer)...), 403, "has a scope")
	w.wantError("revoke", w.send("DELETE", "/api/v1/tokens/operator", "", bearerOf(definer)...), 403, "has a scope")
	w.want("the domain stays", w.send("GET", "/api/v1/domains/kept.test", "", bearerOf(tokenOf("admin"))...), 200)
}

// The last token stays as expired, so that nodes still require tokens; an expired token cannot be rotated.
func TestTokens_TheLastRevocationKeepsNodesClosed(t *testing.T) {
	w := newWorld(t)
	withFileTokens(w)
	secret := createToken(w, `{"name":"only","role":"admin"}`)
	admin := bearerOf(tokenOf("admin"))
	w.want("revoke", w.send("DELETE", "/api/v1/tokens/only", "", admin...), 204)
	w.want("the secret", w.send("GET", "/api/v1/domains", "", bearerOf(secret)...), 401)
	r := w.send("GET", "/api/v1/tokens/only", "", admin...)
	if r.status != 200 || !strings.Contains(r.body, `"status":"expired"`) {
		t.Errorf("the last token: %d %s", r.status, r.body)
	}
	w.wantError("rotate", w.send("POST", "/api/v1/tokens/only/rotate", "", admin...), 409, "has expired")
	w.want("revoke again", w.send("DELETE", "/api/v1/tokens/only", "", admin...), 204)
	w.want("gone", w.send("GET", "/api/v1/tokens/only", "", admin...), 404)
}

// The error of the deletion of a region in use names no object outside.
func TestScopes_ErrorsNameNoObjectOutside(t *testing.T) {
	w, tokens := scopedWorld(t)
	admin := bearerOf(tokenOf("admin"))
	w.want("share", w.send("PATCH", "/api/v1/domains/canary.test", `{"regions":["canary","inside"]}`, admin...), 200)
	w.want("free", w.send("DELETE", "/api/v1/domains/inside.test", "", admin...), 204)
	r := w.send("DELETE", "/api/v1/regions/inside", "", bearerOf(tokens["region-define"])...)
	if r.status != 409 || strings.Contains(r.body, canary) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A token undoes its own change of records, and sees it in the audit log.
func TestScopes_RecordsInsideCanBeUndone(t *testing.T) {
	w, tokens := scopedWorld(t)
	token := bearerOf(tokens["zone-"])
	w.want("add", w.send("POST", "/api/v1/records", `{"name":"new.inside.test","type":"TXT","data":["\"x\""]}`,
		token...), 201)
	w.want("audit", w.send("GET", "/api/v1/audit-logs", "", token...), 200, "new.inside.test")
	w.want("undo", w.send("POST", "/api/v1/audit-logs/last/undo", "", token...), 200, "is undone")
	w.want("gone", w.send("GET", "/api/v1/records/new.inside.test/TXT", "", token...), 404)
}

// A wildcard of another team answers a name of the scope, and its explanation is outside.
func TestScopes_ARoutingTestExplainsNoWildcardOutside(t *testing.T) {
	w := geoWorld(t)
	withFileTokens(w)
	one := createToken(w, `{"name":"one","scope":{"names":["a.any.test"]}}`)
	all := createToken(w, `{"name":"all","scope":{"zones":["any.test"]}}`)
	const body = `{"domain":"a.any.test","client_ip":"203.0.113.7"}`
	w.want("outside", w.send("POST", "/api/v1/routing/test", body, bearerOf(one)...), 403)
	w.want("inside", w.send("POST", "/api/v1/routing/test", body, bearerOf(all)...), 200, "10.0.1.1")
}
