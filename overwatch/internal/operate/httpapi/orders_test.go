package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/control/objects"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

const (
	weightPath = "/api/v1/overwatch/backends/app.example/192.0.2.1/80/weight"
	drainPath  = "/api/v1/servers/" + firstServer + "/drain"
)

func (w *world) orders() []api.Order {
	w.t.Helper()
	list, err := w.client.Orders(w.t.Context())
	w.must(err)
	return list.Orders
}

func (w *world) backend() (b api.Backend) {
	w.t.Helper()
	r := w.send("GET", "/api/v1/overwatch/backends/app.example/192.0.2.1/80", "")
	w.must(json.Unmarshal([]byte(r.body), &b))
	return b
}

func TestWeight_StandsBesideTheDeclaredOneWithWhoWhyAndUntil(t *testing.T) {
	w := newWorld(t)
	declared := w.backend().Weight
	o, err := w.client.SetWeight(t.Context(), "APP.example.", "192.0.2.1", 80,
		api.WeightRequest{Weight: new(7), Reason: "new kernel", ExpiresIn: "1h"})
	if err != nil || *o.Weight != 7 || !o.InForce || o.Service != service || o.CreatedBy != "127.0.0.1" {
		t.Fatalf("%+v %v", o, err)
	}
	b := w.backend()
	if b.Weight != declared || b.WeightOverride == nil || b.WeightOverride.Weight != 7 ||
		b.WeightOverride.Reason != "new kernel" || b.WeightOverride.By != "127.0.0.1" ||
		time.Until(*b.WeightOverride.ExpiresAt) < 59*time.Minute {
		t.Errorf("%+v %+v", b, b.WeightOverride)
	}
	list, err := w.client.DomainBackends(t.Context(), service)
	if err != nil || len(list.Backends) == 0 || list.Backends[0].Weight != declared ||
		list.Backends[0].WeightOverride == nil || list.Backends[0].WeightOverride.Weight != 7 {
		t.Errorf("in the backends of the domain: %+v %v", list, err)
	}
	if stored, err := w.store.LoadOrders(); err != nil || len(stored) != 1 || stored[0].Weight != 7 ||
		stored[0].Kind != api.OrderWeight {
		t.Errorf("on disk: %+v %v", stored, err)
	}
	if list := w.orders(); len(list) != 1 || list[0].Kind != api.OrderWeight {
		t.Errorf("listed: %+v", list)
	}
	w.must(w.client.ClearWeight(t.Context(), service, "192.0.2.1", 80))
	if b := w.backend(); b.WeightOverride != nil || len(w.orders()) != 0 {
		t.Errorf("cleared: %+v", b)
	}
	entries := w.auditLog("?actions=weight,clear_weight&sort_order=asc").Entries
	if len(entries) != 2 || entries[0].Resource != "server" || entries[0].ResourceID != firstServer ||
		!strings.Contains(string(entries[0].After), `"weight":7`) || string(entries[1].After) != "null" ||
		entries[0].Action != api.AuditWeight || entries[1].Action != api.AuditClearWeight {
		t.Errorf("audit log: %+v", entries)
	}
}

func TestWeight_PatchKeepsWhatItDoesNotName(t *testing.T) {
	w := newWorld(t)
	w.wantError("none", w.send("PATCH", weightPath, `{"expires_in":"1h"}`), 404, "declared weight")
	w.want("PUT", w.send("PUT", weightPath, `{"weight":7,"reason":"new kernel","source":"s","expires_in":"1h"}`), 200)
	var o api.Order
	r := w.send("PATCH", weightPath, `{"expires_in":"9h"}`)
	w.must(json.Unmarshal([]byte(r.body), &o))
	if o.Weight == nil || *o.Weight != 7 || o.Reason != "new kernel" || o.Source != "s" || !o.InForce ||
		o.ExpiresAt == nil || o.ExpiresAt.Sub(o.CreatedAt) != 9*time.Hour {
		t.Fatalf("its end: %+v", r)
	}
	w.want("its weight", w.send("PATCH", weightPath, `{"weight":0}`), 200, `"weight":0`, `"reason":"new kernel"`,
		o.ExpiresAt.Format("2006-01-02T15:04:05"))
	w.wantError("too much", w.send("PATCH", weightPath, `{"weight":1001}`), 400, "from 0 to 1000")
}

func TestWeight_RefusesWhatItCannotBe(t *testing.T) {
	w := newWorld(t)
	for body, words := range map[string]string{
		`{"reason":"r"}`:               "weight is missing",
		`{"weight":-1,"reason":"r"}`:   "from 0 to 1000",
		`{"weight":1001,"reason":"r"}`: "from 0 to 1000",
		`{"weight":"5","reason":"r"}`:  "weight is",
		`{"weight":5}`:                 "reason is missing",
		`{"weight":5,"reason":"r","starts_at":"2020-01-01T00:00:00Z"}`:               "after now",
		`{"weight":5,"reason":"r","starts_at":"22:00"}`:                              "22:00",
		`{"weight":5,"reason":"r","starts_at":"9999-01-01T00:00:00Z"}`:               "at most",
		`{"weight":5,"reason":"r","expires_in":"-1h"}`:                               "above zero",
		`{"weight":5,"reason":"r","expires_in":"1h","until":"2030-01-01T00:00:00Z"}`: "until",
		`{"weight":5,"reason":"` + strings.Repeat("x", 501) + `"}`:                   "500",
		`{"weight":5,"reason":"r","source":"a\nb"}`:                                  "printed",
	} {
		w.wantError(body, w.send("PUT", weightPath, body), 400, words)
	}
	const good = `{"weight":5,"reason":"r"}`
	w.wantError("unknown", w.send("PUT", strings.Replace(weightPath, "/80/", "/81/", 1), good), 404)
	w.wantError("no address", w.send("PUT", strings.Replace(weightPath, "192.0.2.1", "web1", 1), good), 400, "web1")
	w.wantError("nothing to clear", w.send("DELETE", weightPath, ""), 404, "declared weight")
	if len(w.orders()) != 0 {
		t.Errorf("%+v", w.orders())
	}
}

// A weight of 0 for the last server of a name with a weight causes a warning, and is refused on request.
func TestWeight_ZeroNamesWhatWouldBeLeft(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	both := `{"backends": ["` + firstServer + `", "` + secondServer + `"], "zero_weight": true}`
	if got := w.consequences(both); got != service+" zero_weight A" {
		t.Errorf("consequences: %q", got)
	}
	w.wantError("both", w.send("POST", "/api/v1/routing/consequences", strings.Replace(both, "}", `,"removed":true}`,
		1)),
		400, "zero_weight")
	const zero = `{"weight":0,"reason":"r"}`
	w.want("the first", w.send("PUT", strings.Replace(weightPath, "0.2.1/", "0.2.2/", 1)+"?if_safe=true", zero), 200)
	w.wantError("the last", w.send("PUT", weightPath+"?if_safe=true", zero), 409, "zero weight", service)
	w.want("a drain that leaves a share takes nobody's last server", w.send("POST", drainPath+"?if_safe=true",
		`{"share":0.5}`), 202)
	w.send("DELETE", drainPath, "")
	w.want("without if_safe", w.send("PUT", weightPath, zero), 200)
}

func TestDrain_ToAShareWithReasonAndEnd(t *testing.T) {
	w := newWorld(t)
	r := w.send("POST", drainPath, `{"share":0.25,"duration":"1h","reason":"half load","expires_in":"2h"}`)
	if r.status != 202 || !strings.Contains(r.body, `"draining":true`) || !strings.Contains(r.body, `"share":0.25`) {
		t.Fatalf("%+v", r)
	}
	d := w.backend().Drain
	if d == nil || d.Share != 0.25 || d.Reason != "half load" || d.By != "127.0.0.1" || d.ExpiresAt == nil ||
		d.ExpiresAt.Sub(d.EndsAt).Round(time.Minute) != time.Hour {
		t.Errorf("%+v", d)
	}
	for body, words := range map[string]string{`{"share":1}`: "below 1", `{"share":-0.1}`: "below 1",
		`{"share":"25%"}`: "share", `{"reason":" "}`: "reason"} {
		w.wantError(body, w.send("POST", drainPath, body), 400, words)
	}
	if stored, err := w.store.LoadOrders(); err != nil || len(stored) != 1 || stored[0].Share != 0.25 ||
		stored[0].Over != time.Hour || stored[0].Reason != "half load" {
		t.Errorf("on disk: %+v %v", stored, err)
	}
}

func TestWindow_IsListedBeforehandAndTakenBack(t *testing.T) {
	w := newWorld(t)
	start := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	at := start.Format(time.RFC3339)
	for path, body := range map[string]string{
		"PUT " + weightPath:   `{"weight":7,"reason":"r","starts_at":"` + at + `","expires_in":"30m"}`,
		"PUT " + overridePath: `{"healthy":false,"reason":"r","starts_at":"` + at + `","expires_in":"30m"}`,
		"POST " + drainPath:   `{"reason":"r","starts_at":"` + at + `","expires_in":"30m"}`,
	} {
		method, path, _ := strings.Cut(path, " ")
		if r := w.send(method, path, body); r.status >= 300 || !strings.Contains(r.body, at) {
			t.Fatalf("%s: %+v", path, r)
		}
	}
	list := w.orders()
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for _, o := range list {
		if o.InForce || !o.StartsAt.Equal(start) || !o.ExpiresAt.Equal(start.Add(30*time.Minute)) {
			t.Errorf("%+v", o)
		}
	}
	if b := w.backend(); b.WeightOverride != nil || b.Override != nil || b.Draining || b.Drain != nil {
		t.Errorf("before it begins: %+v", b)
	}
	// The end of a planned override moves with its begin, and a PATCH without both keeps both.
	later := start.Add(time.Hour)
	for body, ends := range map[string]time.Time{`{"reason":"other"}`: start.Add(30 * time.Minute),
		`{"expires_in":"1h"}`: start.Add(time.Hour)} {
		r := w.send("PATCH", overridePath, body)
		if r.status != 200 || !strings.Contains(r.body,
			ends.Format("2006-01-02T15:04:05")) || !strings.Contains(r.body, at) {
			t.Errorf("%s: %+v, want the end %s", body, r, ends)
		}
		w.send("PATCH", overridePath, `{"expires_in":"30m"}`)
	}
	w.wantError("its end before its beginning", w.send("PATCH", overridePath,
		`{"starts_at":"`+later.Format(time.RFC3339)+`"}`), 400, "expires_in")
	// A current override does not end a planned override by accident, and a planned override does not end the current
	// override.
	orders := w.state()
	for path, body := range map[string]string{weightPath: `{"weight":9,"reason":"now"}`,
		overridePath: `{"healthy":true,"reason":"now"}`, drainPath: `{"share":0.1}`} {
		method := "PUT"
		if path == drainPath {
			method = "POST"
		}
		w.wantError(path, w.send(method, path, body), 409, "is planned by 127.0.0.1 from "+at, "replace_planned=true",
			"take the planned one back")
	}
	if now := w.state(); now != orders {
		t.Errorf("a refused order has changed %s to %s", orders, now)
	}
	w.want("now", w.send("PUT", weightPath+"?replace_planned=true", `{"weight":9,"reason":"now"}`), 200)
	w.wantError("planned over one in force", w.send("PUT", weightPath,
		`{"weight":7,"reason":"r","starts_at":"`+at+`"}`), 409, "in force")
	w.want("taking a planned drain back", w.send("DELETE", drainPath, ""), 200)
	if list := w.orders(); len(list) != 2 {
		t.Errorf("%+v", list)
	}
}

// A server that is created again after a deletion is a new server without a drain.
func TestDrain_GoesWithItsServer(t *testing.T) {
	w := newWorld(t)
	const made = `{"service":"app.example","address":"192.0.2.9","port":80,"region":"eu"}`
	for _, r := range [][3]string{{"POST", "/api/v1/servers", made},
		{"POST", "/api/v1/servers/app.example:192.0.2.9:80/drain", ""},
		{"DELETE", "/api/v1/servers/app.example:192.0.2.9:80", ""}, {"POST", "/api/v1/servers", made}} {
		if got := w.send(r[0], r[1], r[2]); got.status >= 300 {
			t.Fatalf("%v: %+v", r, got)
		}
	}
	if list := w.orders(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	document := api.Document{Servers: []api.DocumentServer{
		{"service": service, "address": "192.0.2.10", "port": 80, "region": "eu"}}}
	w.apply(api.ApplyRequest{Document: document, Owner: "shop"}, 1)
	w.want("of a document", w.send("POST", "/api/v1/servers/app.example:192.0.2.10:80/drain", ""), 202)
	w.want("of a document", w.send("PUT", "/api/v1/overwatch/backends/app.example/192.0.2.10/80/weight",
		`{"weight":7,"reason":"r"}`), 200)
	w.apply(api.ApplyRequest{Owner: "shop", Prune: true}, 1)
	if list := w.orders(); len(list) != 0 {
		t.Errorf("after the document: %+v", list)
	}
}

// The same applies to the addresses of a server with a host name.
func TestDrain_GoesWithItsHostName(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{firstServer, secondServer} {
		w.validate(id, check.StateHealthy, "")
	}
	document := api.Document{Servers: []api.DocumentServer{
		{"service": service, "target": "lb.example.net", "port": 443, "region": "eu"}}}
	for what, remove := range map[string]func(){
		"DELETE": func() { w.want("DELETE", w.send("DELETE", targetPath, ""), 204) },
		"prune":  func() { w.apply(api.ApplyRequest{Owner: "shop", Prune: true}, 1) },
	} {
		w.apply(api.ApplyRequest{Document: document, Owner: "shop"}, 1)
		w.resolved("192.0.2.77")
		w.want(what, w.send("POST", "/api/v1/servers/app.example:192.0.2.77:443/drain", ""), 202)
		remove()
		if list := w.orders(); len(list) != 0 {
			t.Errorf("%s: %+v", what, list)
		}
	}
}

// The drain also ends while the address continues to serve until new servers have a check result.
func TestDrain_GoesWithAHostNameThatServesOn(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: api.Document{Servers: []api.DocumentServer{
		{"service": service, "target": "lb.example.net", "port": 443, "region": "eu"}}}}, 1)
	w.resolved("192.0.2.77")
	const address = "app.example:192.0.2.77:443"
	w.validate(address, check.StateHealthy, "")
	w.want("drain", w.send("POST", "/api/v1/servers/"+address+"/drain", ""), 202)
	w.want("DELETE", w.send("DELETE", targetPath, ""), 204)
	if id, err := objects.ParseID(address); err != nil || w.registry.View().Get(id) == nil {
		t.Errorf("it does not serve on, so that nothing is shown: %v", err)
	}
	if list := w.orders(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
