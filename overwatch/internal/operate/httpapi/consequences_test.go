package httpapi // inside: it looks at path

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gslb.internal/overwatch/internal/answer/zone"
	"gslb.internal/overwatch/internal/health/registry"
	"gslb.internal/overwatch/internal/state/config"
	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
	"gslb.internal/shared/wire"
)

const (
	firstServer, secondServer = service + ":192.0.2.1:80", service + ":192.0.2.2:80"
	agentServer               = service + ":192.0.2.9:80"
)

// steeredWorld returns a world whose DNS answers follow the registry, with two healthy servers in eu.
func steeredWorld(t *testing.T, domain config.Domain) *world {
	w := newWorld(t, func(o *Options) {
		backends := o.View
		o.DNSView = func() *zone.View { return steeredBy(t, backends, domain)() }
	})
	w.validate(firstServer, check.StateHealthy, "")
	w.validate(secondServer, check.StateHealthy, "")
	return w
}

func plainDomain() config.Domain {
	return config.Domain{Name: service, RoutingAlgorithm: "weighted", OnAllDown: "servfail"}
}

// consequences requests the consequences of a change and returns them in a short form: name, answer, serving/minimum.
func (w *world) consequences(body string) string {
	w.t.Helper()
	r := w.send("POST", "/api/v1/routing/consequences", body)
	var list api.ConsequenceList
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 || list.Total != len(list.Names) {
		w.t.Fatalf("%s: %d %s", body, r.status, r.body)
	}
	var parts []string
	for _, n := range list.Names {
		parts = append(parts, strings.Join([]string{n.Name, string(n.Answer), strings.Join(n.QueryTypes, "+")}, " "))
	}
	return strings.Join(parts, ", ")
}

func TestConsequences_NamesThatWouldBeLeftWithTooFew(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	const none = service + " none A"
	for body, want := range map[string]string{
		`{"backends": ["` + firstServer + `"]}`:                         "",
		`{"backends": ["` + firstServer + `", "` + secondServer + `"]}`: none,
		`{"regions": ["eu"]}`:                                           none,
		`{"regions": ["EU"]}`:                                           none,
		`{"regions": ["us"]}`:                                           "",
		`{"agents": ["nobody"], "backends": ["` + agentServer + `"]}`:   "",
		`{"regions": ["eu"], "removed": true}`:                          none,
	} {
		if got := w.consequences(body); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	for body, words := range map[string]string{`{}`: "1 to 1000", `{"backends": ["x"]}`: "x", `{"names": []}`: "names"} {
		w.wantError(body, w.send("POST", "/api/v1/routing/consequences", body), 400, words)
	}
}

func TestConsequences_CountWhatMinHealthyAsksForAndTheLastResort(t *testing.T) {
	domain := plainDomain()
	domain.MinHealthy, domain.OnAllDown = "2", "last_healthy"
	w := steeredWorld(t, domain)
	body := `{"backends": ["` + firstServer + `"]}`
	if got := w.consequences(body); got != service+" last_resort A" {
		t.Errorf("%s: %q", body, got)
	}
}

func TestIfSafe_RefusesWhatLeavesANameWithNobody(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	drain := func(id, query string) httpReply {
		return w.send("POST", "/api/v1/servers/"+id+"/drain"+query, `{"duration": "1h"}`)
	}
	if r := drain(firstServer, "?if_safe=true"); r.status != 202 {
		t.Fatalf("the first of two: %d %s", r.status, r.body)
	}
	r := drain(secondServer, "?if_safe=true") // the first server still has a falling share
	w.wantError("the second", r, 409, service+" would be left with 0 of at least 1 backends", "A: none",
		"nothing was changed")
	var refused api.ErrorBody
	w.must(json.Unmarshal([]byte(r.body), &refused))
	if len(refused.Names) != 1 || refused.Names[0].Name != service || refused.Names[0].Answer != api.AnswerNone {
		t.Errorf("names: %+v", refused.Names)
	}
	if b := w.registry.View().Service(service); b[1].Draining {
		t.Error("what was refused drains")
	}
	w.wantError("misspelt", drain(secondServer, "?if_safe=yes"), 400, "if_safe")
	for _, query := range []string{"?if_safe=false", ""} {
		if r := drain(secondServer, query); r.status != 202 {
			t.Errorf("%q: %d %s", query, r.status, r.body)
		}
	}
}

func TestIfSafe_HoldsForOverridesRemovalsRevocationsAndRegions(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	w.agent("192.0.2.9", wire.ClaimHealthy)
	w.validate(agentServer, check.StateHealthy, "")
	w.want("POST", w.send("POST", "/api/v1/regions", `{"name": "asia"}`), 201)
	const own = service + ":192.0.2.3:80"
	create := `{"service": "` + service + `", "address": "192.0.2.3", "port": 80, "region": "asia"}`
	w.want("POST", w.send("POST", "/api/v1/servers", create), 201)
	w.validate(own, check.StateHealthy, "")
	unhealthy := `{"healthy": false, "reason": "test"}`
	for _, r := range []struct{ last, method, path, body string }{
		{firstServer, "PUT", "/api/v1/overrides/" + service + "/192.0.2.1", unhealthy},
		{firstServer, "POST", "/api/v1/overwatch/backends/" + service + "/192.0.2.1/80/override", unhealthy},
		{agentServer, "POST", "/api/v1/overwatch/agents/" + agentName + "/revoke", `{"reason": "test"}`},
		{agentServer, "DELETE", "/api/v1/overwatch/agents/" + agentName, ""},
		{agentServer, "DELETE", "/api/v1/nodes/agent/" + agentName, ""},
		{agentServer, "POST", "/api/v1/nodes/agent/" + agentName + "/certificate", ""},
		{agentServer, "DELETE", "/api/v1/nodes/agent/" + agentName + "/certificate", ""},
		{agentServer, "DELETE", "/api/v1/overwatch/agents?service=" + service + "&pinned_since=2020-01-01T00:00:00Z", ""},
		{own, "DELETE", "/api/v1/servers/" + own, ""},
		{own, "DELETE", "/api/v1/domains/" + service + "/backends/" + own, ""},
		{own, "PATCH", "/api/v1/regions/asia", `{"enabled": false}`},
		{own, "PUT", "/api/v1/regions/asia", `{"enabled": false}`},
	} {
		for _, id := range []string{firstServer, secondServer, agentServer, own} { // only the last server still serves
			state := check.StateUnhealthy
			if id == r.last {
				state = check.StateHealthy
			}
			w.validate(id, state, "connection refused")
		}
		path := r.path + "?if_safe=true"
		if strings.Contains(r.path, "?") {
			path = r.path + "&if_safe=true"
		}
		w.wantError(r.method+" "+path, w.send(r.method, path, r.body), 409, service+" would be left with 0")
		if !slices.ContainsFunc(w.registry.View().Service(service), func(b *registry.Backend) bool {
			return b.ID.String() == r.last && b.MayServe && b.Override == nil
		}) {
			t.Errorf("%s %s changed %s", r.method, path, r.last)
		}
	}
}

// The undo of the enabling of a region of the file disables the region.
func TestConsequences_OfUndoneOverlays(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	w.want("disabled", w.send("PATCH", "/api/v1/regions/eu", `{"enabled": false}`), 200)
	w.want("enabled", w.send("PATCH", "/api/v1/regions/eu", `{"enabled": true}`), 200)
	w.wantError("undone", w.send("POST", "/api/v1/audit-logs/last/undo?if_safe=true", ""), 409,
		service+" would be left with 0")
	if !w.cfg.Load().Regions[0].Enabled {
		t.Error("the region is disabled")
	}
}
