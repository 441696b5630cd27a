package httpapi // inside: it shares world_test.go

import (
	"net/http"
	"strings"
	"testing"
)

// promised is every method and path of the specification and of the API's
// extensions, with values in the place of names.
const promised = `
GET /api/health
GET /api/v1/health/servers
GET /api/v1/health/regions
GET /api/v1/ready
GET /api/v1/live
GET /api/v1/version
GET POST /api/v1/domains
GET PUT PATCH DELETE /api/v1/domains/app.example
GET POST /api/v1/domains/app.example/backends
DELETE /api/v1/domains/app.example/backends/app.example:192.0.2.1:80
GET POST /api/v1/servers
GET PATCH DELETE /api/v1/servers/app.example:192.0.2.1:80
GET PUT PATCH /api/v1/servers/app.example:192.0.2.1:80/health-check
POST DELETE /api/v1/servers/app.example:192.0.2.1:80/drain
GET POST /api/v1/regions
GET PUT PATCH DELETE /api/v1/regions/eu
GET /api/v1/nodes/overwatch
GET /api/v1/nodes/overwatch/node-1
GET POST /api/v1/nodes/agent
GET DELETE /api/v1/nodes/agent/agent-1
GET POST DELETE /api/v1/nodes/agent/agent-1/certificate
GET /api/v1/gossip/nodes
GET /api/v1/gossip/nodes/node-1
GET PUT PATCH DELETE /api/v1/gossip/config
POST /api/v1/gossip/generate-key
GET /api/v1/dnssec/status
GET /api/v1/dnssec/ds
GET /api/v1/dnssec/keys
POST /api/v1/dnssec/sync
GET /api/v1/replication
GET /api/v1/replication/objects
GET /api/v1/overwatch/backends
GET /api/v1/overwatch/backends/app.example/192.0.2.1/80
POST DELETE /api/v1/overwatch/backends/app.example/192.0.2.1/80/override
GET /api/v1/overwatch/stats
GET /api/v1/overwatch/conditions
POST /api/v1/overwatch/validate
GET DELETE /api/v1/overwatch/agents
GET /api/v1/overwatch/agents/expiring
GET DELETE /api/v1/overwatch/agents/agent-1
POST /api/v1/overwatch/agents/agent-1/revoke
GET /api/v1/overwatch/locks
DELETE /api/v1/overwatch/locks/app.example
GET /api/v1/events
GET /api/v1/notifications
POST /api/v1/notifications/test
GET /api/v1/notifications/told
GET /api/v1/audit-logs
GET /api/v1/audit-logs/1
GET /api/v1/audit-logs/stats
GET /api/v1/audit-logs/export
GET /api/v1/metrics/overview
GET /api/v1/metrics/history
GET /api/v1/metrics/nodes/node-1
GET /api/v1/metrics/regions/eu
GET /api/v1/metrics/routing
GET PUT PATCH /api/v1/preferences
GET /api/v1/config/system
GET PUT PATCH DELETE /api/v1/config/dns
GET PUT PATCH DELETE /api/v1/config/health-check
GET PUT PATCH DELETE /api/v1/config/logging
POST /api/v1/config/reload
POST /api/v1/config/validate
POST /api/v1/config/plan
GET /api/v1/routing/algorithms
GET /api/v1/routing/algorithms/weighted
POST /api/v1/routing/test
POST /api/v1/routing/consequences
GET /api/v1/routing/decisions
GET /api/v1/routing/decisions/1
GET /api/v1/routing/flows
GET /api/v1/overrides
GET /api/v1/overwatch/brakes
DELETE /api/v1/overwatch/brakes/app.example
GET PUT PATCH DELETE /api/v1/overrides/app.example/192.0.2.1
GET PUT PATCH /api/v1/geo/mappings
DELETE /api/v1/geo/mappings/192.0.2.0/24
DELETE /api/v1/geo/mappings/192.0.2.0%2F24
GET /api/v1/geo/test
GET /api/v1/document
POST /api/v1/document/plan
POST /api/v1/document/apply
GET /api/v1/openapi.json
GET /api/docs
`

// TestAPI_EveryPromisedPathIsAnswered holds the routes against the promise.
func TestAPI_EveryPromisedPathIsAnswered(t *testing.T) {
	w := newWorld(t)
	for line := range strings.Lines(strings.TrimSpace(promised)) {
		words := strings.Fields(line)
		path := words[len(words)-1]
		for _, method := range words[:len(words)-1] {
			r := w.send(method, path, "")
			if r.status == http.StatusMethodNotAllowed ||
				r.status == http.StatusNotFound && strings.Contains(r.body, "no path") {
				t.Errorf("%s %s: %d %s", method, path, r.status, r.body)
			}
		}
	}
}
