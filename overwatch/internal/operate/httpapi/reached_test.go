package httpapi // inside: it shares world_test.go

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gslb.internal/shared/api"
)

// carried reports that one node has every change, after it records the requested waiting time.
type carried struct {
	Replication
	waited []time.Duration
}

func (c *carried) Reached(_ context.Context, wait time.Duration) *api.Reached {
	c.waited = append(c.waited, wait)
	return &api.Reached{Has: []string{"ow-2"}, Lacks: []string{"ow-3"}}
}

func TestReached_AChangeNamesTheNodesThatHaveIt(t *testing.T) {
	replication := &carried{}
	w := newWorld(t, func(o *Options) { o.Replication = replication })
	const named = `"replication":{"has":["ow-2"],"lacks":["ow-3"]}}`
	r := w.send("POST", "/api/v1/domains?wait_for_peers=1500ms", `{"name":"new.gslb.test","description":"<&>"}`)
	if r.status != http.StatusCreated || !strings.HasSuffix(strings.TrimSpace(r.body), named) ||
		!strings.Contains(r.body, "<&>") {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r = w.send("DELETE", "/api/v1/domains/new.gslb.test", ""); r.status != http.StatusNoContent {
		t.Errorf("%d %s", r.status, r.body)
	}
	if len(replication.waited) != 2 || replication.waited[0] != 1500*time.Millisecond || replication.waited[1] != 0 {
		t.Errorf("waited %v", replication.waited)
	}
	for _, bad := range []string{"5", "-1s", "31s", "soon"} {
		w.wantError("a wait of "+bad, w.send("DELETE", "/api/v1/domains/a.gslb.test?wait_for_peers="+bad, ""),
			http.StatusBadRequest, "wait_for_peers is", "0s to 30s")
	}
	w.wantError("what stays here", w.send("PUT", "/api/v1/config/logging?wait_for_peers=1s", `{"level":"info"}`),
		http.StatusBadRequest, "wait_for_peers")
	if r = w.send("PUT", "/api/v1/config/logging", `{"level":"info"}`); strings.Contains(r.body, "replication") {
		t.Errorf("what stays here: %s", r.body)
	}
	if len(replication.waited) != 2 {
		t.Errorf("waited for what did not change: %v", replication.waited)
	}
}

// An operation without an object kind would never report the nodes that have its change.
func TestOperations_EachChangeNamesTheKindOfItsObjects(t *testing.T) {
	reading := []string{"/config/validate", "/config/plan", "/document/plan", "/domains/{name}/plan",
		"/routing/test", "/routing/consequences", "/overwatch/validate", "/notifications/test", "/gossip/generate-key"}
	for _, o := range Operations() {
		_, path, _ := strings.Cut(o.Path, v1)
		changing := changesState(o.Method) && !slices.Contains(reading, path)
		if changing != (o.Changes != "") {
			t.Errorf("%s %s changes objects of the kind %q", o.Method, o.Path, o.Changes)
		}
	}
}
