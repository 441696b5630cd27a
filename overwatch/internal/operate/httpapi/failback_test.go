package httpapi // inside: it uses the world of the package's tests

import (
	"strings"
	"testing"
	"time"

	"gslb.internal/overwatch/internal/answer/failback"
	"gslb.internal/overwatch/internal/policy"
	"gslb.internal/shared/api"
	"gslb.internal/shared/model"
)

// observe reports a decision for www.example: whether eu can serve, and the region in the answers.
func (w *world) observe(eu bool, inUse string) {
	h := policy.RegionHealth{Region: "eu", Required: 2, IsDown: !eu}
	if eu {
		h.Serving = 2
	}
	w.failback.Observe("www.example", failback.Observation{Setting: model.Failback{Manual: true},
		Regions: []policy.RegionHealth{h, {Region: "us", Serving: 2, Required: 2}}, InUse: []string{inUse},
		Listed: []string{"eu", "us"}})
}

// failOver makes eu of www.example await failback.
func (w *world) failOver() {
	w.observe(true, "eu")
	w.observe(false, "us")
}

const failbackPath = "/api/v1/domains/www.example/failback"

func TestFailback_ReturnsTheClients(t *testing.T) {
	w := newWorld(t)
	w.want("nothing is pending", w.send("POST", failbackPath, ""), 200, `"returned":[]`, "no region of www.example")
	w.want("none", w.send("GET", "/api/v1/overwatch/failbacks", ""), 200, `"failbacks":[]`, `"total":0`)
	w.failOver()
	w.want("the list", w.send("GET", "/api/v1/overwatch/failbacks", ""), 200, `"domain":"www.example","region":"eu",`+
		`"failback":"manual"`, `"serving":0,"required":2,"can_serve_since":null,"returns_at":null`)
	w.want("the domain", w.send("GET", "/api/v1/domains/www.example", ""), 200, `"active_regions":["us"]`,
		`"pending_failbacks":[{"domain":"www.example","region":"eu"`)
	w.wantError("it cannot serve", w.send("POST", failbackPath, ""), 409, "eu (0 serving backends, 2 required)")
	w.observe(true, "us")
	w.want("another region", w.send("POST", failbackPath, `{"regions":["us"]}`), 200, `"returned":[]`,
		"us of www.example: no failback is pending")
	w.wantError("an unknown field", w.send("POST", failbackPath, `{"region":"eu"}`), 400, "region")
	w.wantError("an unknown domain", w.send("POST", "/api/v1/domains/x.example/failback", ""), 404, "x.example")
	w.want("failback", w.send("POST", failbackPath, `{"regions":["EU"]}`), 200, `"returned":["eu"]`, `"pending":[]`)
	if got := w.failback.Awaiting("www.example"); len(got) != 0 {
		t.Errorf("%v still await failback", got)
	}
	e := w.lastAudit()
	if e.Action != api.AuditFailback || e.Resource != "domain" || e.ResourceID != "www.example" ||
		!strings.Contains(string(e.Before), `"region":"eu"`) || !strings.Contains(string(e.After), `"pending":[]`) {
		t.Errorf("the audit entry: %+v", e)
	}
}

// A request ends the wait of a region that the domain does not use any more.
func TestFailback_OfARemovedRegion(t *testing.T) {
	w := newWorld(t)
	w.failOver()
	w.failback.Observe("www.example", failback.Observation{Setting: model.Failback{Manual: true},
		Regions: []policy.RegionHealth{{Region: "us", Serving: 2, Required: 2}}, InUse: []string{"us"},
		Listed: []string{"us"}})
	w.want("the list", w.send("GET", "/api/v1/overwatch/failbacks", ""), 200, `"total":0`)
	w.want("failback", w.send("POST", failbackPath, `{"regions":["eu"]}`), 200, `"returned":["eu"]`)
	if got := w.failback.Awaiting("www.example"); len(got) != 0 {
		t.Errorf("%v still await failback", got)
	}
}

// The undo of a failback restores the standby, and can be undone. It is rejected after another failover.
func TestFailback_CanBeUndone(t *testing.T) {
	w := newWorld(t)
	w.failOver()
	w.observe(true, "us")
	since := w.failback.Of("www.example")[0].Since
	w.want("failback", w.send("POST", failbackPath, ""), 200)
	w.observe(true, "eu")
	w.want("undo", w.undo("last"), 200, "failback")
	if got := w.failback.Of("www.example"); len(got) != 1 || !got[0].Since.Equal(since) {
		t.Errorf("after the undo: %+v", got)
	}
	w.observe(true, "us")
	w.want("undo of the undo", w.undo("last"), 200)
	if got := w.failback.Of("www.example"); len(got) != 0 {
		t.Errorf("after the second undo: %+v", got)
	}
	w.observe(true, "eu")
	time.Sleep(2 * time.Millisecond) // the resolution of stored times
	w.observe(false, "us")
	w.wantError("a later failover", w.undo("last"), 409, "is no longer what it left")
}
