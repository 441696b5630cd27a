package httpapi // inside: it uses operations.LastChange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/audit"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
)

// undo reverts the newest change, or the change with the id, and returns the response.
func (w *world) undo(id string, headers ...string) httpReply {
	w.t.Helper()
	return w.send("POST", "/api/v1/audit-logs/"+id+"/undo", "", headers...)
}

// state returns all state that an undo can revert, in the form of the API, without the times that a change sets.
func (w *world) state() string {
	w.t.Helper()
	var all []string
	for _, path := range []string{"domains", "regions", "geo/mappings", "servers", "overwatch/orders"} {
		var v map[string]any
		w.must(json.Unmarshal([]byte(w.send("GET", "/api/v1/"+path, "").body), &v))
		delete(v, "generated_at")
		for _, list := range v {
			objects, _ := list.([]any)
			for _, o := range objects {
				fields, _ := o.(map[string]any)
				if path == "servers" || path == "domains" {
					delete(fields, "created_at")
				}
				delete(fields, "updated_at")
			}
		}
		text, err := json.Marshal(v)
		w.must(err)
		all = append(all, string(text))
	}
	return strings.Join(all, "\n")
}

// An undo reverts each change that can be undone completely, and can be undone itself.
func TestUndo_TakesTheLastChangeBackAndForthAgain(t *testing.T) {
	w := newWorld(t)
	for _, step := range []struct{ method, path, body string }{
		{"PUT", overridePath, `{"healthy":false,"reason":"a"}`},
		{"PATCH", overridePath, `{"reason":"b","expires_in":"1h"}`},
		{"DELETE", overridePath, ""},
		{"PUT", weightPath, `{"weight":7,"reason":"a"}`},
		{"PUT", weightPath, `{"weight":9,"reason":"b","expires_in":"30m"}`},
		{"DELETE", weightPath, ""},
		{"POST", drainPath, `{"duration":"1h","share":0.25,"reason":"a"}`},
		{"DELETE", drainPath, ""},
		{"POST", drainPath, `{"starts_at":"2035-01-01T00:00:00Z"}`},
		{"POST", "/api/v1/regions", `{"name":"ap","continent":"AS"}`},
		{"PATCH", "/api/v1/regions/ap", `{"enabled":false}`},
		{"PATCH", "/api/v1/regions/ap", `{"enabled":true}`},
		{"POST", "/api/v1/domains", `{"name":"new.example","ttl":30}`},
		{"PATCH", "/api/v1/domains/new.example", `{"ttl":60}`},
		{"DELETE", "/api/v1/domains/new.example", ""},
		{"PUT", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","region":"ap"}`},
		{"PUT", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","region":"ap","comment":"office"}`},
		{"DELETE", "/api/v1/geo/mappings/192.0.2.0/24", ""},
		{"POST", "/api/v1/servers", `{"service":"app.example","address":"192.0.2.9","port":80,"region":"ap"}`},
		{"PATCH", "/api/v1/servers/app.example:192.0.2.9:80", `{"weight":5}`},
		{"DELETE", "/api/v1/servers/app.example:192.0.2.9:80", ""},
		{"POST", "/api/v1/servers", targetBody},
		{"PATCH", targetPath, `{"weight":5}`},
		{"PATCH", targetPath + "/health-check", `{"type":"http","path":"/up"}`},
		{"DELETE", targetPath, ""},
	} {
		if strings.Contains(step.body, "2035") { // more than a year away: refused
			w.wantError(step.body, w.send(step.method, step.path, step.body), 400)
			continue
		}
		before := w.state()
		if r := w.send(step.method, step.path, step.body); r.status >= 300 {
			t.Fatalf("%+v: %+v", step, r)
		}
		after := w.state()
		if r := w.undo(operations.LastChange); r.status != 200 || w.state() != before {
			t.Errorf("%+v undone: %+v\n%s\nwas before\n%s", step, r, w.state(), before)
		}
		if r := w.undo(operations.LastChange); r.status != 200 || w.state() != after ||
			!strings.Contains(r.body, "the undo of entry ") {
			t.Errorf("%+v and once more: %+v\n%s\nwas before\n%s", step, r, w.state(), after)
		}
	}
	e := w.auditLog("").Entries[0]
	if e.Details["undoes"] != fmt.Sprint(e.ID-1) || e.Action != api.AuditDelete ||
		e.ResourceID != "app.example:lb.example.net:443" {
		t.Errorf("its own entry: %+v", e)
	}
}

// A restored object has its previous owner.
func TestUndo_RestoresTheOwnerOfAMapping(t *testing.T) {
	w := newWorld(t)
	w.must(func() error {
		_, err := w.client.Apply(t.Context(), api.ApplyRequest{Owner: "shop", Document: api.Document{
			Mappings: []api.DocumentMapping{{"cidr": "192.0.2.0/24", "region": "eu"}}}})
		return err
	}())
	w.want("DELETE", w.send("DELETE", "/api/v1/geo/mappings/192.0.2.0/24", ""), 204)
	w.want("undo", w.undo(operations.LastChange), 200)
	doc, err := w.client.Document(t.Context())
	if err != nil || len(doc.Mappings) != 1 || doc.Mappings[0].Text("owner") != "shop" {
		t.Errorf("%+v, %v", doc.Mappings, err)
	}
}

// Version 0.9.0 named the routing algorithm of a domain routing_policy in the overlays of its audit entries.
func TestUndo_RevertsAnOverlayOfVersion090(t *testing.T) {
	w := newWorld(t)
	const key, path = "domain www.example", "/api/v1/domains/www.example"
	overlay := func(algorithm string) json.RawMessage {
		return json.RawMessage(`{"fields":{"routing_policy":"` + algorithm + `"},"by":"127.0.0.1",` +
			`"updated_at":"2026-01-02T03:04:05Z"}`)
	}
	for _, algorithm := range []string{"weighted", "client-hash"} {
		made := audit.Change{Action: api.AuditUpdate, Resource: "overlay", ResourceID: key, Actor: "127.0.0.1",
			ActorType: api.ActorUser, RequestID: algorithm, After: overlay(algorithm)}
		if algorithm != "weighted" {
			made.Before = overlay("weighted")
		}
		w.must(w.defined.Define(w.audit.EntryOf(made), func(d *definitions.Draft) error {
			d.PutSetting(key, overlay(algorithm))
			return nil
		}))
	}
	second := w.auditLog("").Entries[0].ID
	w.want("the second change", w.undo(fmt.Sprint(second)), 200)
	w.want("the value of the first", w.send("GET", path, ""), 200, `"routing_algorithm":"weighted"`)
	w.want("the first change", w.undo(fmt.Sprint(second-1)), 200)
	if r := w.send("GET", path, ""); strings.Contains(r.body, "overlay") {
		t.Error(r.body)
	}
}

func TestUndo_RefusesWhereALaterChangeStandsOnItOrItCannotBe(t *testing.T) {
	w := newWorld(t)
	w.wantError("nothing yet", w.undo(operations.LastChange), 404, "no change by 127.0.0.1")
	w.send("PUT", weightPath, `{"weight":7,"reason":"a"}`)
	first := w.auditLog("").Entries[0].ID
	w.send("PUT", weightPath, `{"weight":8,"reason":"b"}`)
	if would, err := w.client.LastChange(t.Context()); err != nil || would.Entry != first+1 || would.At.IsZero() ||
		*w.orders()[0].Weight != 8 {
		t.Errorf("a dry run: %+v %v, %+v", would, err, w.orders())
	}
	w.wantError("changed since", w.undo(fmt.Sprint(first)), 409, fmt.Sprintf("entry %d (weight by 127.0.0.1", first+1),
		"undo that first")
	w.send("POST", "/api/v1/regions", `{"name":"ap"}`)
	region := w.auditLog("").Entries[0].ID
	w.send("POST", "/api/v1/servers", `{"service":"app.example","address":"192.0.2.9","port":80,"region":"ap"}`)
	w.wantError("a region in use", w.undo(fmt.Sprint(region)), 409, "region ap has 1 servers")
	w.reloads.err = errors.New("the file is gone")
	w.send("POST", "/api/v1/config/reload", "")
	w.wantError("what failed", w.undo(fmt.Sprint(w.auditLog("?status=failure").Entries[0].ID)), 409)
	w.send("PUT", "/api/v1/preferences", `{"theme":"dark"}`)
	w.wantError("preferences", w.undo(operations.LastChange), 409, "cannot be undone")
	w.wantError("no number", w.undo("first"), 400, `"first"`)
	w.wantError("no entry", w.undo("99999"), 404)
	w.wantError("a refusal", w.undo(fmt.Sprint(api.FirstRefusal+7)), 404)
}

func TestUndo_NeedsTheRoleOfTheChangeAndIsOnesOwn(t *testing.T) {
	w := newWorld(t)
	withTokens(w)
	as := func(role string) []string { return []string{"Authorization", "Bearer " + tokenOf(role)} }
	w.send("POST", "/api/v1/domains", `{"name":"new.example"}`, as("admin")...)
	withTokens(w) // a definition replaces the configuration of the world
	w.wantError("a domain", w.undo("1", as("operate")...), 403, "admin")
	w.wantError("nothing of its own", w.undo(operations.LastChange, as("operate")...), 404, "no change by")
	w.wantError("who only reads", w.undo("1", as("read")...), 403)
	if r := w.undo(operations.LastChange, as("admin")...); r.status != 200 {
		t.Errorf("its own: %+v", r)
	}
	withTokens(w)
	w.send("PUT", weightPath, `{"weight":7,"reason":"a"}`, as("operate")...)
	if r := w.undo(operations.LastChange, as("operate")...); r.status != 200 {
		t.Errorf("its own weight: %+v", r)
	}
}
