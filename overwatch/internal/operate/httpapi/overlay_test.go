package httpapi // inside: it shares world_test.go

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/control/operations"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

func TestOverlay_OfADomainOfTheFileIsLaidShownAndDropped(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/domains/www.example"
	laid, err := w.client.ChangeDomain(t.Context(), "WWW.example.", api.DomainChange{"ttl": 9,
		"routing_algorithm": "failover", "regions": []string{"us"}, "tags": []string{"shop"},
		"description": "the shop"})
	w.must(err)
	if e := w.auditLog("?actions=update").Entries[0]; string(e.Before) != "null" ||
		!strings.Contains(e.Details[api.DetailConfigured], `"ttl":60`) {
		t.Errorf("the audit entry lacks the values of the file: %+v", e)
	}
	o := laid.Domain.Overlay
	if o == nil || !o.InForce || len(o.Fields) != 4 || string(o.Fields["ttl"]) != "9" ||
		o.Fields["routing_policy"] != nil ||
		string(o.Configured["ttl"]) != "60" || o.By != "127.0.0.1" || o.UpdatedAt.IsZero() {
		t.Errorf("a value that is the file's is no overlay: got %+v", o)
	}
	if d := laid.Domain; d.Source != api.FromConfig || d.TTL != 9 || d.Description != "the shop" || len(d.Tags) != 1 {
		t.Errorf("got %+v", d)
	}
	if d := w.cfg.Load().Domains[0]; d.TTL != 9 || len(d.Regions) != 1 || d.FailoverThreshold != 2 {
		t.Errorf("in force %+v", d)
	}
	if d := w.defined.file.Domains[0]; d.TTL != 60 || len(d.Regions) != 2 {
		t.Errorf("the file itself changed: %+v", d)
	}
	if r := w.send("GET", "/api/v1/domains?tag=shop", ""); !strings.Contains(r.body, `"total":1`) {
		t.Errorf("by its tag: %s", r.body)
	}
	w.wantError("not as it was", w.send("PATCH", path, `{"ttl":8}`, "If-Match", `"old"`), 412)
	tag := w.send("GET", path, "").header.Get("ETag")
	if r := w.send("PATCH", path, `{"ttl":60,"enabled":false}`, "If-Match", tag); r.status != 200 ||
		strings.Contains(r.body, `"configured":{"ttl"`) || !strings.Contains(r.body, `"enabled":false`) {
		t.Errorf("the file's value again, and disabled: %d %s", r.status, r.body)
	}
	if cfg := w.cfg.Load(); len(cfg.Domains) != 1 || len(cfg.Disabled()) != 1 {
		t.Errorf("a disabled domain is answered: %+v", cfg.Domains)
	}
	w.wantError("the file has the name", w.send("POST", "/api/v1/domains", `{"name":"www.example"}`), 409)
	for body, words := range map[string]string{`{"ttl":0}`: "ttl is 0", `{"regions":["x"]}`: `region is "x"`,
		`{"fallback_algorithm":"latency"}`: "failover never lacks data", `{"name":"b.example"}`: "cannot change",
		`{"routing_policy":"fastest"}`: "no such algorithm", `{"ttl":"9"}`: "whole number"} {
		w.wantError(body, w.send("PATCH", path, body), 400, words)
	}
	w.wantError("its object", w.send("DELETE", path, ""), 400, "configuration")
	w.want("DELETE", w.send("DELETE", path+"/overlay", ""), 204)
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"ttl":60`) || strings.Contains(r.body, "overlay") ||
		!strings.Contains(r.body, `"enabled":true`) {
		t.Errorf("after: %s", r.body)
	}
	w.wantError("twice", w.send("DELETE", path+"/overlay", ""), 404, "has no overlay")
	undone, err := w.client.Undo(t.Context(), "last")
	if err != nil || undone.Resource != "overlay" || undone.ResourceID != "domain www.example" {
		t.Errorf("undo: %+v %v", undone, err)
	}
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"enabled":false`) {
		t.Errorf("the overlay is not back: %s", r.body)
	}
}

func TestOverlay_OfTheCheckOfAServerOfTheFile(t *testing.T) {
	w := newWorld(t)
	w.defined.file.Overwatch.Validation.Enabled = true
	w.defined.file.Regions[0].Servers = []config.Server{{Address: netip.MustParseAddr("192.0.2.1"), Port: 80,
		Weight:  100,
		Service: service}}
	const path = "/api/v1/servers/" + service + ":192.0.2.1:80"
	inForce := func() check.Spec {
		for s := range w.cfg.Load().StaticServers() {
			return s.Check.Value()
		}
		return check.Spec{}
	}
	file := inForce()
	w.wantError("not as it was", w.send("PATCH", path+"/health-check", `{"enabled":false}`, "If-Match", `"old"`), 412)
	for _, step := range []struct {
		method, body, fields string
		want                 check.Spec
	}{
		{"PATCH", `{"enabled":false}`, `"fields":{"health_check":{"enabled":false}}`, check.Spec{Type: check.TCP,
			Off: true}},
		{"PATCH", `{"type":"http","path":"/up","timeout":"2s"}`,
			`"health_check":{"enabled":false,"path":"/up","timeout":"2s","type":"http"}`,
			check.Spec{Type: check.HTTP, Path: "/up", Off: true, Interval: 30 * time.Second, Timeout: 2 * time.Second}},
		{"PUT", `{"unhealthy_threshold":7}`, `"fields":{"health_check":{"unhealthy_threshold":7}}`,
			check.Spec{Type: check.TCP, FailureThreshold: 7}},
		{"PUT", `{"type":"tcp","enabled":true}`, ``, file},
	} {
		r := w.send(step.method, path+"/health-check", step.body)
		if got := inForce(); r.status != 200 || got != step.want {
			t.Errorf("%s: %d %s: in force %+v", step.body, r.status, r.body, got)
		}
		if r := w.send("GET", path, ""); !strings.Contains(r.body, step.fields) ||
			strings.Contains(r.body, "overlay") != (step.fields != "") {
			t.Errorf("%s: GET %s", step.body, r.body)
		}
	}
	for body, words := range map[string]string{`{"interval":"soon"}`: "give a duration",
		`{"interval":"0s"}`: "interval",
		`{"type":"ping"}`:   "type", `{"healthy_threshold":0}`: "healthy_threshold", `{"color":1}`: "color"} {
		w.wantError(body, w.send("PATCH", path+"/health-check", body), 400, words)
	}
	w.send("PATCH", path, `{"weight":5}`)
	w.send("PATCH", path+"/health-check", `{"path":"/up","type":"http"}`)
	w.must(w.client.ResetServer(t.Context(), service+":192.0.2.1:80"))
	if got := inForce(); got != file {
		t.Errorf("after: %+v", got)
	}
}

func TestOverlays_AreListedAlsoWithoutTheirObject(t *testing.T) {
	w := newWorld(t)
	w.want("PATCH", w.send("PATCH", "/api/v1/domains/www.example", `{"ttl":9}`), 200)
	w.defined.file.Domains = w.defined.file.Domains[1:]
	list, err := w.client.Overlays(t.Context())
	if err != nil || list.Total != 1 || list.Overlays[0].Kind != "domain" || list.Overlays[0].ID != "www.example" ||
		list.Overlays[0].InForce || !strings.Contains(list.Overlays[0].Reason, "gslbctl domains reset www.example") {
		t.Errorf("%+v %v", list, err)
	}
	w.must(w.client.ResetDomain(t.Context(), "www.example"))
	if list, err := w.client.Overlays(t.Context()); err != nil || list.Total != 0 {
		t.Errorf("%+v %v", list, err)
	}
}

func TestOverlay_OfARegionOfTheFile(t *testing.T) {
	w := newWorld(t)
	const path = "/api/v1/regions/eu"
	r, err := w.client.ChangeRegion(t.Context(), "eu", api.RegionChange{"priority": 7, "name": "Europe",
		"countries": []string{"DE"}, "latitude": 50.1, "longitude": 8.6})
	if err != nil || r.Priority != 7 || r.Name != "Europe" || r.Source != "config" || r.Overlay == nil ||
		string(r.Overlay.Configured["priority"]) != "0" {
		t.Errorf("%+v %v", r, err)
	}
	if in := w.cfg.Load().Regions[0]; in.Priority != 7 || in.Countries[0] != "DE" || *in.Latitude != 50.1 {
		t.Errorf("in force %+v", in)
	}
	for body, words := range map[string]string{`{"priority":-1}`: "priority is -1", `{"continent":"X"}`: "continent",
		`{"countries":["de"]}`: "capitals"} {
		w.wantError(body, w.send("PATCH", path, body), 400, words)
	}
	w.want("PUT leaves the rest to the file", w.send("PUT", path, `{"priority":3}`), 200, `"fields":{"priority":3}`,
		`"name":"eu"`)
	if r := w.send("PATCH", path, `{"enabled":false}`); r.status != 200 || !strings.Contains(r.body,
		`"enabled":false`) ||
		!strings.Contains(r.body, `"configured":{"enabled":true,"priority":0}`) || w.cfg.Load().Regions[0].Enabled {
		t.Errorf("disabled: %s", r.body)
	}
	w.must(w.client.ResetRegion(t.Context(), "eu"))
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"priority":0`) || strings.Contains(r.body, "overlay") {
		t.Errorf("after: %s", r.body)
	}
	w.wantError("of the API", w.send("DELETE", "/api/v1/regions/none/overlay", ""), 404)
}

// No domain or mapping can newly refer to a disabled region of the file. An object that already refers to it can be
// changed.
func TestOverlay_NothingNewNamesADisabledRegion(t *testing.T) {
	w := newWorld(t)
	w.want("a domain", w.send("POST", "/api/v1/domains", `{"name":"old.example","regions":["us","eu"]}`), 201)
	w.want("a mapping", w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","region":"us"}`), 201)
	w.want("disabled", w.send("PATCH", "/api/v1/regions/us", `{"enabled":false}`), 200)
	w.wantError("a domain", w.send("POST", "/api/v1/domains", `{"name":"new.example","regions":["us"]}`), 400,
		`region is "us"`, "disabled")
	w.wantError("a mapping", w.send("PUT", "/api/v1/geo/mappings", `{"cidr":"198.51.100.0/24","region":"us"}`), 400,
		`region is "us"`, "disabled")
	domain := func(name string) api.Document {
		return api.Document{Domains: []api.DocumentDomain{{"name": name, "ttl": 10,
			"regions": []string{"us", "eu"}}}}
	}
	w.refuses(api.ApplyRequest{Document: domain("new.example")}, 400, "domains[0]", `region is "us"`, "disabled")
	w.refuses(api.ApplyRequest{Document: api.Document{Mappings: []api.DocumentMapping{
		{"cidr": "198.51.100.0/24", "region": "us"}}}}, 400, "mappings[0]", `region is "us"`, "disabled")
	w.want("its domain", w.send("PATCH", "/api/v1/domains/old.example", `{"ttl":9,"regions":["us","eu"]}`), 200)
	w.want("its mapping", w.send("PATCH", "/api/v1/geo/mappings", `{"cidr":"192.0.2.0/24","comment":"x"}`), 200)
	w.want("undone", w.undo(operations.LastChange), 200)
	w.apply(api.ApplyRequest{Document: domain("old.example")}, 1)
}

func TestOverlay_KeepsTheRegionThatItNames(t *testing.T) {
	w := newWorld(t)
	if _, err := w.client.CreateRegion(t.Context(), api.RegionChange{"name": "ap"}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.ChangeDomain(t.Context(), "www.example", api.DomainChange{"regions": []string{"ap"}})
	w.must(err)
	if d := w.cfg.Load().Domains[0]; len(d.Regions) != 1 || d.Regions[0] != "ap" {
		t.Errorf("in force %+v", d)
	}
	w.wantError("in use", w.send("DELETE", "/api/v1/regions/ap", ""), 409, "overlay of domain www.example")
}

func TestOverlay_OfAServerOfTheFile(t *testing.T) {
	w := newWorld(t)
	w.defined.file.Regions[0].Servers = []config.Server{{Address: netip.MustParseAddr("192.0.2.1"), Port: 80,
		Weight:  100,
		Service: service}}
	const path = "/api/v1/servers/" + service + ":192.0.2.1:80"
	tag := w.send("GET", path, "").header.Get("ETag")
	w.wantError("not as it was", w.send("PATCH", path, `{"weight":5}`, "If-Match", `"old"`), 412)
	w.want("PATCH", w.send("PATCH", path, `{"weight":5,"region":"us"}`, "If-Match", tag), 200, "over the configuration")
	for s := range w.cfg.Load().StaticServers() {
		if s.Weight != 5 || s.Region != "us" {
			t.Errorf("in force %+v", s)
		}
	}
	if r := w.send("GET", path, ""); !strings.Contains(r.body, `"configured":{"region":"eu","weight":100}`) {
		t.Errorf("GET: %s", r.body)
	}
	for body, words := range map[string]string{`{"weight":0}`: "weight is 0", `{"region":"x"}`: `region is "x"`,
		`{"weight":"5"}`: "whole number", `{"color":1}`: "color"} {
		w.wantError(body, w.send("PATCH", path, body), 400, words)
	}
	w.wantError("its object", w.send("DELETE", path, ""), 400, "static")
	w.must(w.client.ResetServer(t.Context(), service+":192.0.2.1:80"))
	for s := range w.cfg.Load().StaticServers() {
		if s.Weight != 100 || s.Region != "eu" {
			t.Errorf("after: %+v", s)
		}
	}
	w.wantError("no id", w.send("DELETE", "/api/v1/servers/x/overlay", ""), 400)
}

// If a batch has two changes of a server, the second change does not depend on the first, whatever tag it contains.
func TestOverlay_AConditionSeesWhatIsNotInForceYet(t *testing.T) {
	w := newWorld(t)
	w.defined.file.Regions[0].Servers = []config.Server{{Address: netip.MustParseAddr("192.0.2.1"), Port: 80,
		Weight:  100,
		Service: service}}
	const id = service + ":192.0.2.1:80"
	w.declare(id)
	tag := w.send("GET", "/api/v1/servers/"+id, "").header.Get("ETag")
	if tag == "" {
		t.Fatal("no tag")
	}
	w.defined.batch = func(d *definitions.Draft) {
		d.PutSetting(definitions.OverlayKey(definitions.OverServer, id), json.RawMessage(`{"fields":{"weight":9}}`))
	}
	w.wantError("a change before it", w.send("PATCH", "/api/v1/servers/"+id, `{"weight":5}`, "If-Match", tag), 412,
		"has changed")
	w.defined.batch = nil
	w.want("alone", w.send("PATCH", "/api/v1/servers/"+id, `{"weight":5}`, "If-Match", tag), 200)
}
