package httpapi // inside: it shares world_test.go

import (
	"net/http"
	"strings"
	"testing"
)

// examplePath returns the path of an operation with objects of the world as its parameters.
func examplePath(o *Operation) string {
	return strings.NewReplacer("regions/{id}", "regions/eu", "agent/{id}", "agent/"+agentName, "nodes/{id}",
		"nodes/node-1",
		"overwatch/{id}", "overwatch/node-1", "audit-logs/{id}", "audit-logs/1", "algorithms/{id}", "algorithms/weighted",
		"{agent_id}", agentName, "{id}", service+":192.0.2.1:80", "{service}", service, "{name}", service,
		"{address}", "192.0.2.1", "{port}", "80", "{cidr}", "192.0.2.0/24", "{zone}", "gslb.test").Replace(o.Path)
}

// The paths are those of openapi.json: the test of package apidoc compares it with the table.
func TestOperations_EachIsAnsweredAtItsPath(t *testing.T) {
	w := newWorld(t)
	for _, o := range Operations() {
		r := w.send(o.Method, examplePath(&o), "")
		if r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotFound && strings.Contains(r.body, "no path") {
			t.Errorf("%s %s: %d %s", o.Method, o.Path, r.status, r.body)
		}
		if o.Summary == "" || o.Status == 0 {
			t.Errorf("%s %s has no summary or status", o.Method, o.Path)
		}
	}
}

func TestOperations_PatchIsAcceptedWhereverPutIs(t *testing.T) {
	methods := map[string]bool{}
	for _, o := range Operations() {
		methods[o.Method+o.Path] = true
	}
	for _, o := range Operations() {
		if o.Method == http.MethodPut && !methods[http.MethodPatch+o.Path] {
			t.Errorf("%s has PUT and no PATCH", o.Path)
		}
	}
}
