package console_test

import (
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// A mass-failure hold has a button on the overview that shows the consequences and releases the hold.
func TestConsole_ReleasesAHold(t *testing.T) {
	t.Parallel()
	_, f, p := fronted(t)
	var released atomic.Pointer[url.Values]
	condition := api.Condition{Kind: api.AgentsHeld, Severity: api.SeverityDegraded, Subject: "region eu",
		Sentence: "agent a reports all serving backends of region eu unhealthy, but own checks succeed",
		Command:  "gslbctl brakes release --region eu"}
	f.answers("/api/v1/overwatch/conditions", func() (int, any) {
		list := api.ConditionList{Status: api.ServiceDegraded, Conditions: []api.Condition{condition}, Total: 1}
		if released.Load() != nil {
			list = api.ConditionList{Status: api.ServiceHealthy, Conditions: []api.Condition{}}
		}
		return http.StatusOK, list
	})
	f.answers("/api/v1/overwatch/brakes", func() (int, any) {
		holds := []api.Brake{{Region: "eu", Agent: "a", Concern: api.BrakeUnhealthy, Since: time.Now(),
			Backends: []string{shopName + ":192.0.2.1:80", shopName + ":192.0.2.2:80"}}}
		return http.StatusOK, api.BrakeList{Brakes: holds, Total: 1}
	})
	f.answers("/api/v1/routing/consequences", func() (int, any) {
		return http.StatusOK, api.ConsequenceList{Names: []api.Consequence{}}
	})
	f.answersQuery("/api/v1/overwatch/brakes/eu", func(query url.Values) (int, any) {
		released.Store(&query)
		return http.StatusOK, api.Outcome{Success: true}
	})
	p.open(f.URL, "overview")
	p.click("button[aria-label='Release the hold of region eu']")
	p.reads("dialog", "about 2 backends take effect", "Each domain has the required number of backends")
	p.axe("dialog of a hold")
	p.click(submit)
	p.reads("h1", "healthy")
	if query := *released.Load(); query.Get("scope") != api.BrakeOfRegion || query.Get("if_safe") != "true" {
		t.Errorf("the page sent %v", query)
	}
}
