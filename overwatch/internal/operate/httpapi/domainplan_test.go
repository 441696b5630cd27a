package httpapi // inside: it shares world_test.go

import (
	"strings"
	"testing"

	"gslb.internal/shared/api"
	"gslb.internal/shared/check"
)

// A plan of a domain lists the changed fields, and rejects the same requests as a change. It changes no state.
func TestDomainPlan_ListsFieldsAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.validate(second, check.StateHealthy, "")
	path := "/api/v1/domains/app.example/plan"
	r := w.send("POST", path, `{"ttl":61,"routing_algorithm":"weighted"}`)
	w.want("plan", r, 200, `"fields":[{"name":"ttl","before":"0","after":"61"}]`, `"force":[]`)
	w.want("nothing differs", w.send("POST", path, `{"routing_algorithm":"weighted"}`), 200, `"changes":[]`,
		`"unchanged":1`)
	w.wantError("a fault", w.send("POST", path, `{"routing_algorithm":"nearest"}`), 400, "nearest")
	w.wantError("another name", w.send("POST", path, `{"name":"x.example"}`), 400, "cannot change")
	w.wantError("unknown", w.send("POST", "/api/v1/domains/none.example/plan", `{"ttl":61}`), 404)
	after := w.send("GET", "/api/v1/domains/app.example", "").body
	if !strings.Contains(after, `"ttl":30`) || strings.Contains(after, `"overlay"`) {
		t.Errorf("the domain is %s", after)
	}
	if entries := readOf[api.AuditList](w, "/audit-logs?resources=domain,overlay").Entries; len(entries) > 0 {
		t.Errorf("the plan is in the audit log: %+v", entries)
	}
}

// A plan that disables a domain reports the loss of its answers, and the plan of another field does not.
func TestDomainPlan_ReportsTheLossOfADisabledDomain(t *testing.T) {
	w := steeredWorld(t, plainDomain())
	path := "/api/v1/domains/" + service + "/plan"
	w.want("disabled", w.send("POST", path, `{"enabled":false}`), 200,
		`"losses":[{"name":"`+service+`","answer":"none","query_types":["A"],"serving":0,"minimum":1}]`,
		`"force":["`+service+` would be left with 0 of at least 1 backends (A: none)"]`)
	w.want("another field", w.send("POST", path, `{"ttl":61}`), 200, `"losses":[]`, `"force":[]`)
}
