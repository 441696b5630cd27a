package httpapi // inside: it uses operations.LastChange and the limits of a change

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/shared/api"
)

const secondDrain = "/api/v1/servers/" + secondServer + "/drain"

// The requests of a command are a single change: an undo reverts them together, and a redo repeats them together.
func TestUndo_TakesAllRequestsOfOneChangeBack(t *testing.T) {
	w := newWorld(t)
	other := []string{api.ChangeHeader, "another"}
	w.want("before", w.send("PUT", weightPath, `{"weight":3,"reason":"a"}`, other...), 200)
	before := w.state()
	id := []string{api.ChangeHeader, "drain-all"}
	for _, path := range []string{drainPath, secondDrain} {
		w.want(path, w.send("POST", path, `{"duration":"1h","reason":"r"}`, id...), 202)
	}
	w.want("the same object again", w.send("POST", secondDrain, `{"duration":"1h","reason":"s"}`, id...), 202)
	after := w.state()
	last, err := w.client.LastChange(t.Context())
	if err != nil || len(last.Entries) != 3 || last.Change != "drain-all" || last.Version == "" {
		t.Errorf("the last change: %+v, %v", last, err)
	}
	w.want("undo", w.undo("change-drain-all"), 200,
		`"message":"the drain of server `+secondServer+` and of 2 more is undone"`)
	if w.state() != before {
		t.Errorf("undone: %s\nwant %s", w.state(), before)
	}
	w.want("redo", w.undo(operations.LastChange), 200)
	if w.state() != after {
		t.Errorf("redone: %s\nwant %s", w.state(), after)
	}
	w.want("by the number of one entry", w.undo(fmt.Sprint(last.Entries[1])), 200)
	if w.state() != before {
		t.Errorf("undone by number: %s\nwant %s", w.state(), before)
	}
	w.wantError("nothing is left", w.undo("change-drain-all"), 409, "as it was")
	w.wantError("an unknown change", w.undo("change-nobody"), 404, "nobody")
	for _, wrong := range []string{"a b", strings.Repeat("x", api.MaxChangeID+1), "ü"} {
		w.wantError(wrong, w.send("POST", drainPath, "", api.ChangeHeader, wrong), 400, api.ChangeHeader)
	}
}

// An undo is refused completely if one object of the change has changed since.
func TestUndo_OfSeveralIsWholeOrNothing(t *testing.T) {
	w := newWorld(t)
	id := []string{api.ChangeHeader, "both"}
	for _, path := range []string{drainPath, secondDrain} {
		w.want(path, w.send("POST", path, `{"duration":"1h"}`, id...), 202)
	}
	w.want("another", w.send("POST", drainPath, `{"duration":"2h"}`), 202)
	state, entries := w.state(), w.auditLog("").Total
	for _, dry := range []string{"", "?dry_run=true"} {
		r := w.send("POST", "/api/v1/audit-logs/change-both/undo"+dry, "")
		w.wantError("a later change", r, 409, "undo that first")
		var body api.ErrorBody
		if err := json.Unmarshal([]byte(r.body), &body); err != nil || body.Undo == nil || body.Undo.Change != "both" ||
			len(body.Undo.Entries) != 2 || body.Undo.At.IsZero() {
			t.Errorf("the refusal does not describe the change: %s", r.body)
		}
	}
	if w.state() != state || w.auditLog("").Total != entries {
		t.Errorf("a refused undo has changed something: %s", w.state())
	}
}

// An undo reverts a whole apply, including the objects that a forced prune has deleted, and can be undone.
func TestUndo_OfAnApplyRestoresAllOfIt(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 6)
	first := w.documentText()
	changed := shop(40)
	changed.Servers, changed.Settings = append(changed.Servers[:1], api.DocumentServer{"service": "shop.example",
		"target": "lb.example.net", "port": 443, "region": "eu"}), laid("dns", "default_ttl", 77)
	w.want("a weight", w.send("PUT", "/api/v1/overwatch/backends/shop.example/2001:db8::7/80/weight",
		`{"weight":5,"reason":"r"}`), 200)
	orders := fmt.Sprint(w.orders()[0].Kind, *w.orders()[0].Weight)
	w.apply(api.ApplyRequest{Document: changed, Owner: "shop", Prune: true, Force: true}, 4)
	second := w.documentText()
	if len(w.orders()) != 0 {
		t.Errorf("the weight of a deleted server stays: %+v", w.orders())
	}
	for _, want := range []string{first, second, first} {
		r := w.undo(operations.LastChange)
		if r.status != 200 || w.documentText() != want {
			t.Fatalf("undo: %+v\n%s\nwant\n%s", r, w.documentText(), want)
		}
		if want == first && (len(w.orders()) != 1 || fmt.Sprint(w.orders()[0].Kind, *w.orders()[0].Weight) != orders) {
			t.Errorf("the orders of the server that is there again: %+v, want %s", w.orders(), orders)
		}
	}
	w.apply(api.ApplyRequest{Owner: "shop", Prune: true, Force: true}, 6)
	if r := w.undo(operations.LastChange); r.status != 200 || w.documentText() != first {
		t.Errorf("undo of a prune: %+v\n%s\nwant\n%s", r, w.documentText(), first)
	}
}

// documentText returns all objects of the API.
func (w *world) documentText() string {
	w.t.Helper()
	d, err := w.client.Document(w.t.Context())
	w.must(err)
	text, err := json.Marshal(d)
	w.must(err)
	return string(text)
}

// The undo of an apply is refused after a later change of its objects, and without its stored state.
func TestUndo_OfAnApplyRefusesWhereItCannotBe(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 6)
	apply := w.lastAudit()
	w.want("a later change", w.send("PATCH", "/api/v1/domains/shop.example", `{"ttl":99}`), 200)
	state := w.documentText()
	r := w.undo(fmt.Sprint(apply.ID))
	w.wantError("a later change", r, 409, "domain shop.example has changed since")
	w.want("its undo", w.undo(operations.LastChange), 200)
	w.must(w.store.DeleteApplied(apply.RequestID))
	w.wantError("without its state", w.undo(fmt.Sprint(apply.ID)), 409, "not stored")
	if strings.Contains(state, `"ttl":30`) {
		t.Errorf("the state: %s", state)
	}
	_, err := w.client.Undo(t.Context(), fmt.Sprint(apply.ID))
	refusal, is := errors.AsType[*api.Error](err)
	if !is || refusal.Status != http.StatusConflict || refusal.Undo == nil || refusal.Undo.Entry != apply.ID {
		t.Errorf("the client does not learn which change it is: %v", err)
	}
}

// The undo of a document that names no owner has one space between the words.
func TestUndo_OfADocumentWithoutAnOwnerIsNamed(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30)}, 6)
	undone, err := w.client.Undo(t.Context(), operations.LastChange)
	w.must(err)
	if undone.Message != "the apply of document is undone" {
		t.Errorf("%q", undone.Message)
	}
}

// The audit log omits the values of headers and send. A change that replaced or removed such a value cannot be undone,
// and other changes are undone with the current values.
func TestUndo_RefusesAChangeOfASecret(t *testing.T) {
	for name, c := range map[string]struct {
		path string // of the changes
		body string // of a change, around the fields of the health check
		made string // body of the POST that creates the object; "": an object of the file
	}{
		"server": {"/servers/" + service + ":192.0.2.9:80/health-check", `%s`,
			`{"service":"` + service + `","address":"192.0.2.9","port":80,"region":"eu"}`},
		"server by host name": {strings.TrimPrefix(targetPath, "/api/v1") + "/health-check", `%s`, targetBody},
		"region":              {"/regions/ap", `{"health_check":%s}`, `{"name":"ap"}`},
		"overlay":             {"/regions/eu", `{"health_check":%s}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.made != "" {
				list := "/api/v1/" + strings.Split(c.path, "/")[1]
				w.want("POST", w.send("POST", list, c.made), 201)
			}
			change := func(check string) (details map[string]string) {
				t.Helper()
				w.want(check, w.send("PATCH", "/api/v1"+c.path, fmt.Sprintf(c.body, check)), 200)
				return w.auditLog("").Entries[0].Details
			}
			const first = `{"type":"http","path":"/up","headers":{"Authorization":"first"}}`
			change(first)
			w.want("undo of an added secret", w.undo(operations.LastChange), 200)
			change(first)
			for _, check := range []string{`{"headers":{"Authorization":"second"}}`, `{"headers":null}`} {
				if details := change(check); details[api.DetailSecrets] != "true" {
					t.Errorf("%s: details %v", check, details)
				}
				entries := w.auditLog("").Total
				for _, id := range []string{"last/undo?dry_run=true", "last/undo"} {
					w.wantError(check, w.send("POST", "/api/v1/audit-logs/"+id, ""), 409, "cannot be undone",
						"omits the values of headers and send, which this change altered: set them again")
				}
				if w.auditLog("").Total != entries {
					t.Errorf("%s: a rejected undo has changed something", check)
				}
				change(first)
			}
			if details := change(`{"path":"/other"}`); details[api.DetailSecrets] != "" {
				t.Errorf("details %v of a change without a secret", details)
			}
			w.want("undo", w.undo(operations.LastChange), 200)
			w.want("undone", w.send("GET", "/api/v1"+c.path, ""), 200, `"path":"/up"`, `"Authorization":"[redacted]"`)
		})
	}
}

// The stored objects of an apply have the secrets, so that its undo restores them.
func TestUndo_OfAnApplyRestoresASecret(t *testing.T) {
	w := newWorld(t)
	for _, secret := range []string{"first", "second"} {
		w.apply(api.ApplyRequest{Document: api.Document{Regions: []api.DocumentRegion{{"name": "ap",
			"health_check": map[string]any{"type": "http", "path": "/up", "headers": map[string]string{"a": secret}}}}}}, 1)
	}
	w.want("undo", w.undo(operations.LastChange), 200)
	set, _ := w.defined.Defined()
	if secret := set.Regions["ap"].HealthCheck.Headers["a"]; secret != "first" {
		t.Errorf("the secret is %q", secret)
	}
}
