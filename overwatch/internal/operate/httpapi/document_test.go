package httpapi // inside: it uses tagOf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/state/definitions"
	"gslb.internal/shared/api"
	"gslb.internal/shared/wire"
)

// apply applies a document and expects the given number of changes.
func (w *world) apply(request api.ApplyRequest, changes int) api.Plan {
	w.t.Helper()
	plan, err := w.client.Apply(w.t.Context(), request)
	if err != nil || !plan.Applied || len(plan.Changes) != changes {
		w.t.Fatalf("%d changes: %+v, %v", changes, plan, err)
	}
	return plan
}

// refuses expects that a document is refused with words about an object, and changes nothing.
func (w *world) refuses(request api.ApplyRequest, status int, object string, words ...string) {
	w.t.Helper()
	before, err := w.client.Document(w.t.Context())
	w.must(err)
	_, err = w.client.Apply(w.t.Context(), request)
	refusal, ok := errors.AsType[*api.Error](err)
	if !ok || refusal.Status != status {
		w.t.Errorf("want %d: %v", status, err)
		return
	}
	said := refusal.Message
	for _, p := range refusal.Problems {
		said += " " + p.Object + ": " + p.Problem
	}
	for _, word := range append(words, object) {
		if !strings.Contains(said, word) {
			w.t.Errorf("%q does not say %q", said, word)
		}
	}
	after, err := w.client.Document(w.t.Context())
	w.must(err)
	if fmt.Sprint(tagOf(before)) != fmt.Sprint(tagOf(after)) {
		w.t.Errorf("refused, and %+v became %+v", before, after)
	}
}

func shop(ttl int) api.Document {
	return api.Document{
		Regions: []api.DocumentRegion{{"name": "asia", "continent": "AS"}},
		Domains: []api.DocumentDomain{{"name": "Shop.example.", "ttl": ttl,
			"regions": []string{"eu", "asia"}}},
		Servers: []api.DocumentServer{
			{"service": "shop.example", "address": "192.0.2.7", "port": 80, "region": "asia",
				"health_check": api.HealthCheckChange{"type": "http", "path": "/x", "expected_status": "200"}},
			{"service": "shop.example", "address": "2001:db8::7", "port": 80, "region": "eu"},
		},
		Mappings: []api.DocumentMapping{{"cidr": "10.0.0.0/8", "region": "asia", "comment": "lab"}},
		Agents:   []api.DocumentAgent{{AgentRegistration: api.AgentRegistration{Name: "asia-1", Region: "asia"}}},
	}
}

// The objects of a document exist once, even after an export and a second apply.
func TestDocument_AppliedTwiceChangesNothingTheSecondTime(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 6)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop", Prune: true}, 0)
	for path, body := range map[string]string{"/api/v1/regions/asia": `{"name":"Far East","continent":"AS"}`,
		"/api/v1/geo/mappings": `{"cidr":"10.0.0.0/8","region":"asia","comment":"lab"}`} { // they keep their owner
		if r := w.send("PUT", path, body); r.status != 200 {
			t.Errorf("PUT %s: %+v", path, r)
		}
	}
	exported, err := w.client.Document(t.Context())
	w.must(err)
	if one := exported.Regions[0]; one.Text("id") != "asia" || one.Text("name") != "Far East" ||
		one.Text("owner") != "shop" ||
		exported.Mappings[0].Text("owner") != "shop" {
		t.Errorf("exported: %+v %+v", one, exported.Mappings)
	}
	w.apply(api.ApplyRequest{Document: exported}, 0)
	w.apply(api.ApplyRequest{Document: exported, Owner: "shop", Prune: true}, 0)
	if got := w.registry.View().Service("shop.example"); len(got) != 2 {
		t.Errorf("backends: %v", got)
	}
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 1) // the region's name
	plan := w.apply(api.ApplyRequest{Document: shop(40), Owner: "shop"}, 1)
	if f := plan.Changes[0].Fields; len(f) != 1 || f[0] != (api.PlanField{Name: "ttl", Before: "30", After: "40"}) {
		t.Errorf("fields: %+v", f)
	}
	entry := w.lastAudit()
	if entry.Action != "apply" || entry.ResourceID != "shop" || entry.Status != "success" {
		t.Errorf("audit: %+v", entry)
	}
	if got := w.auditLog("?actions=apply&resources=document").Total; got != 3 {
		t.Errorf("%d entries about documents that changed something, want 3", got)
	}
}

func (w *world) lastAudit() api.AuditEntry {
	w.t.Helper()
	list, err := w.client.AuditLog(w.t.Context(), nil)
	w.must(err)
	return list.Entries[0]
}

// An owner neither changes nor prunes the objects of another owner.
func TestDocument_OwnersKeepTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 6)
	w.refuses(api.ApplyRequest{Document: shop(40), Owner: "other"}, 409, "domains[0]", `the owner "shop"`)
	w.refuses(api.ApplyRequest{Document: shop(40)}, 409, "domains[0]", `the owner "shop"`)
	w.apply(api.ApplyRequest{Document: api.Document{}, Owner: "other", Prune: true}, 0)
	w.refuses(api.ApplyRequest{Document: api.Document{}, Prune: true}, 400, "prune", "owner")
	w.refuses(api.ApplyRequest{Document: api.Document{}, Owner: "no good"}, 400, "owner", "no good")
	_, err := w.client.CreateDomain(t.Context(), api.DomainChange{"name": "hand.example"})
	w.must(err)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop", Prune: true}, 0) // objects without an owner stay
	adopted := shop(30)
	adopted.Domains = append(adopted.Domains, api.DocumentDomain{"name": "hand.example"})
	w.apply(api.ApplyRequest{Document: adopted, Owner: "shop"}, 1)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop", Prune: true}, 1)
	plan := w.apply(api.ApplyRequest{Document: api.Document{}, Owner: "shop", Prune: true}, 6)
	for _, c := range plan.Changes {
		if c.Action != api.PlanDelete {
			t.Errorf("%+v", c)
		}
	}
	if left, err := w.client.Document(t.Context()); err != nil ||
		len(left.Domains)+len(left.Servers)+len(left.Regions) > 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
}

// Each error message contains the object, and an invalid document changes nothing.
func TestDocument_MistakesChangeNothing(t *testing.T) {
	w := newWorld(t)
	w.apply(api.ApplyRequest{Document: shop(30), Owner: "shop"}, 6)
	for _, c := range []struct {
		break_        func(*api.Document)
		status        int
		object, words string
	}{
		{func(d *api.Document) { d.Domains[0]["ttl"] = 0 }, 400, "domains[0]", "ttl is 0"},
		{func(d *api.Document) { d.Domains = append(d.Domains, d.Domains[0]) }, 400, "domains[1]",
			"there twice: also at domains[0]"},
		{func(d *api.Document) { d.Servers[1]["region"] = "mars" }, 400, "servers[1]", `region is "mars"`},
		{func(d *api.Document) { d.Servers[1]["service"] = "nobody.example" }, 400, "servers[1]", "nobody.example"},
		{func(d *api.Document) { d.Servers[0]["health_check"] = map[string]any{"type": "magic"} }, 400, "servers[0]",
			"magic"},
		{func(d *api.Document) { d.Domains[0]["name"] = "www.example" }, 400, "domains[0]", "configuration file"},
		{func(d *api.Document) { d.Regions[0]["name"] = "eu" }, 400, "regions[0]", "configuration file"},
		{func(d *api.Document) { d.Agents[0].Region = "mars" }, 400, "agents[0]", `region is "mars"`},
		{func(d *api.Document) { d.Agents[0].Name = "a b" }, 400, "agents[0]", "a b"},
		{func(d *api.Document) { d.Settings = laid("logging", "level", "debug") }, 400, "settings[0]",
			"dns, health-check"},
		{func(d *api.Document) { d.Settings = laid("dns", "tll", 5) }, 400, "settings[0]", "tll"},
		{func(d *api.Document) { d.Settings = laid("dns", "max_ttl", "x") }, 400, "settings[0]", "max_ttl"},
		{func(d *api.Document) { d.Settings = laid("dns", "default_ttl", -1) }, 400, "settings[0]", "default_ttl"},
		{func(d *api.Document) { d.Settings = laid("dns", "enable_tcp", false) }, 400, "settings[0]", "always"},
		{func(d *api.Document) { d.Mappings[0]["cidr"] = "10.0.0.1/8" }, 400, "mappings[0]", "bits behind the prefix"},
		{func(d *api.Document) { d.Mappings[0]["owner"] = "other" }, 409, "mappings[0]", `owner is "other"`},
		{func(d *api.Document) { d.Domains[0]["ttl"] = 50; d.Regions = nil }, 400, "region asia", "stays"},
	} {
		d := shop(30)
		c.break_(&d)
		w.refuses(
			api.ApplyRequest{Document: d, Owner: "shop", Prune: c.object == "region asia"},
			c.status,
			c.object,
			c.words,
		)
	}
	w.agent("192.0.2.50", wire.ClaimHealthy)
	w.refuses(api.ApplyRequest{Document: api.Document{Servers: []api.DocumentServer{{"service": service,
		"address": "192.0.2.50", "port": 80, "region": "eu"}}}}, 400, "app.example:192.0.2.50:80",
		"exists already")
	for body, words := range map[string]string{
		`{"document":{"domains":[{"name":"a.example","tttl":1}]}}`:                            "tttl",
		`{"document":{"domains":{}}}`:                                                         "domains must be a list",
		`{"document":{"servers":[{"service":"a","address":"192.0.2.1","port":1,"owner":7}]}}`: "owner is 7",
		`{"document":[]}`:  "regions, domains",
		`{"documents":{}}`: "documents",
	} {
		w.wantError(body, w.send("POST", "/api/v1/document/apply", body), 400, words)
	}
	r := w.send("POST", "/api/v1/document/apply", `{"document":{"servers":{"health_check":{"send":"AUTH s3cret"}}}}`)
	if w.wantError("no list", r, 400, "servers must be a list"); strings.Contains(r.body, "s3cret") {
		t.Errorf("the error has the secret: %s", r.body)
	}
	w.wantError(
		"17 MiB",
		w.send("POST", "/api/v1/document/apply", `{"owner":"`+strings.Repeat("a", 17<<20)+`"}`),
		413,
		"larger",
	)
}

// A document with many changes requires force.
func TestDocument_MuchAtOnceNeedsForce(t *testing.T) {
	w := newWorld(t)
	many := func(ttl, changed int) (d api.Document) {
		for i := range 10 {
			with := 60
			if i < changed {
				with = ttl
			}
			d.Domains = append(d.Domains, api.DocumentDomain{
				"name": fmt.Sprintf("d%d.example", i), "ttl": with})
		}
		return d
	}
	w.apply(api.ApplyRequest{Document: many(60, 0), Owner: "many"}, 10)
	w.apply(api.ApplyRequest{Document: many(61, 3), Owner: "many"}, 3)
	w.refuses(api.ApplyRequest{Document: many(62, 4), Owner: "many"}, 409, "4 of the 10", "force")
	plan, err := w.client.Plan(t.Context(), api.ApplyRequest{Document: many(62, 4), Owner: "many"})
	if err != nil || len(plan.Force) != 1 || plan.Applied {
		t.Errorf("the plan: %+v, %v", plan, err)
	}
	w.refuses(api.ApplyRequest{Owner: "many", Prune: true}, 409, "10 of the 10")
	w.apply(api.ApplyRequest{Document: many(62, 4), Owner: "many", Force: true}, 4)
}

func laid(section, name string, value any) []api.DocumentSettings {
	return []api.DocumentSettings{{Section: section, Values: map[string]any{name: value}}}
}

// Settings of a document replace settings of the file, are exported without the file's values, have no owner, and are
// removed by empty values.
func TestDocument_SettingsLieOverTheFile(t *testing.T) {
	w := newWorld(t)
	document := api.Document{Settings: laid("dns", "default_ttl", 77)}
	plan := w.apply(api.ApplyRequest{Document: document, Owner: "net"}, 1)
	if c := plan.Changes[0]; c.Kind != "settings" || c.ID != "dns" || c.Owner != "" || len(c.Fields) != 1 {
		t.Errorf("%+v", c)
	}
	config, err := w.client.DNSConfig(t.Context())
	if err != nil || config.Config.DefaultTTL != 77 {
		t.Errorf("%+v, %v", config, err)
	}
	w.apply(api.ApplyRequest{Document: document}, 0)
	exported, err := w.client.Document(t.Context())
	if err != nil || len(exported.Settings) != 1 || fmt.Sprint(exported.Settings[0].Values) != "map[default_ttl:77]" {
		t.Errorf("%+v, %v", exported.Settings, err)
	}
	w.apply(api.ApplyRequest{Document: exported}, 0)
	w.apply(api.ApplyRequest{Owner: "net", Prune: true}, 0)
	none := api.Document{Settings: []api.DocumentSettings{{Section: "dns", Values: map[string]any{}}}}
	w.apply(api.ApplyRequest{Document: none}, 1)
	w.apply(api.ApplyRequest{Document: none}, 0)
}

// While a region is disabled, objects that refer to it can be changed, and the export of the region can be applied on
// another node.
func TestDocument_WhatNamesADisabledRegionCanBeChangedAndRestored(t *testing.T) {
	w := newWorld(t)
	off := shop(30)
	w.apply(api.ApplyRequest{Document: off, Owner: "shop"}, 6)
	off.Regions[0]["enabled"] = false
	w.apply(api.ApplyRequest{Document: off, Owner: "shop"}, 1)
	only := api.Document{Domains: shop(40).Domains, Servers: shop(40).Servers, Mappings: shop(40).Mappings}
	only.Servers[0]["weight"] = 7
	only.Mappings[0]["comment"] = "yard"
	w.apply(api.ApplyRequest{Document: only, Owner: "shop"}, 3)
	exported, err := w.client.Document(t.Context())
	w.must(err)
	other := newWorld(t)
	other.apply(api.ApplyRequest{Document: exported}, 6)
	other.apply(api.ApplyRequest{Document: exported}, 0)
	only.Domains[0]["name"] = "new.example"
	w.refuses(api.ApplyRequest{Document: api.Document{Domains: only.Domains}}, 400, "domains[0]", "disabled")
}

// Changed objects do not count as new objects.
func TestDocument_ChangesOfManyAreNoMore(t *testing.T) {
	w := newWorld(t)
	var d api.Document
	for i := range definitions.MaxNodes*6/10 + 1 {
		d.Agents = append(d.Agents, api.DocumentAgent{AgentRegistration: api.AgentRegistration{Name: fmt.Sprint("a",
			i)}})
	}
	w.apply(api.ApplyRequest{Document: d}, len(d.Agents))
	for i := range d.Agents {
		d.Agents[i].Version = "2"
	}
	w.apply(api.ApplyRequest{Document: d, Force: true}, len(d.Agents))
}

func TestDocument_PrunesNoRegionThatIsLaidOverADomain(t *testing.T) {
	w := newWorld(t)
	d := api.Document{Regions: []api.DocumentRegion{{"name": "ap"}}}
	w.apply(api.ApplyRequest{Document: d, Owner: "x"}, 1)
	if r := w.send("PATCH", "/api/v1/domains/www.example", `{"regions":["eu","ap"]}`); r.status != 200 {
		t.Fatalf("%+v", r)
	}
	w.refuses(api.ApplyRequest{Document: api.Document{Regions: []api.DocumentRegion{}}, Owner: "x", Prune: true}, 400,
		"ap", "overlay of domain www.example")
}
