package api_test

import (
	"strings"
)

// backendRows returns the rows about backends, admin states and agents.
func (f fixture) backendRows() []row {
	address, port, _ := strings.Cut(f.backendAt, ":")
	where := "/v1/overwatch/backends/" + f.app + "/" + address + "/" + port
	order := "/v1/overrides/" + f.app + "/" + f.backendAt
	planned := plannedStart()
	return []row{
		{"GET /api/v1/overwatch/backends", "/v1/overwatch/backends?service=" + f.app, "", 200,
			each("backends[].", shapeBackend) + shapeListed},
		{"POST /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override",
			`{"healthy":true,"reason":"x",` + planned + `}`, 200, shapeSuccess},
		{"POST /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override?replace_planned=true",
			`{"healthy":true,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeSuccess},
		{"GET /api/v1/overwatch/backends/{service}/{address}/{port}", where, "", 200,
			shapeBackend + " override.healthy:b override.reason:s override.by:s override.at:t override.expires_at:t"},
		{"DELETE /api/v1/overwatch/backends/{service}/{address}/{port}/override", where + "/override", "", 200, shapeSuccess},
		{"PUT /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight",
			`{"weight":7,"reason":"x",` + planned + `}`, 200, shapeOrder + " weight:i starts_at:t"},
		{"PATCH /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight", `{"reason":"y"}`, 200,
			shapeOrder + " weight:i starts_at:t"},
		{"PUT /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight?replace_planned=true",
			`{"weight":7,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeOrder + " weight:i"},
		{"POST /api/v1/audit-logs/{id}/undo", "/v1/audit-logs/last/undo", "", 200,
			"success:b message:s entry:i entries:a- change:s- version:s- at:t action:s resource:s resource_id:s"},
		{"POST /api/v1/audit-logs/{id}/undo", "/v1/audit-logs/999999/undo", "", 404, shapeProblem},
		{"GET /api/v1/overwatch/orders", "", "", 200, each("orders[].", shapeOrder) + shapeListed},
		{"DELETE /api/v1/overwatch/backends/{service}/{address}/{port}/weight", where + "/weight", "", 204, ""},
		{"GET /api/v1/overwatch/stats", "", "", 200,
			"active_agents:i stale_backends:i total_backends:i healthy_backends:i unhealthy_backends:i draining_backends:i " +
				"serving_backends:i cluster_name:s active_overrides:i held_backends:i " +
				"validation_enabled:b validation_suspended:b validated_backends:i " +
				"disagreement_count:i unique_services:i backends_by_service:o backends_by_region:o generated_at:t"},
		{"GET /api/v1/overwatch/brakes", "", "", 200, optional(each("brakes[].",
			"service:s agent:s region:s concern:s{unhealthy|warning} since:t until:t backends:a")) + shapeListed},
		{"DELETE /api/v1/overwatch/brakes/{service}", "/v1/overwatch/brakes/" + f.app, "", 200, shapeSuccess},
		{"DELETE /api/v1/overwatch/brakes/{service}", "/v1/overwatch/brakes/none.example", "", 404, shapeProblem},
		{"GET /api/v1/overwatch/failbacks", "", "", 200, optional(each("failbacks[].", shapeFailback)) + shapeListed},
		{"POST /api/v1/domains/{name}/failback", "/v1/domains/" + f.app + "/failback", "", 200,
			shapeSuccess + " returned:a" + optional(each("pending[].", shapeFailback))},
		{"POST /api/v1/domains/{name}/failback", "/v1/domains/" + f.app + "/failback", `{"regions":["eu"]}`, 200,
			shapeSuccess + " returned:a" + optional(each("pending[].", shapeFailback))},
		{"POST /api/v1/domains/{name}/failback", "/v1/domains/none.example/failback", "", 404, shapeProblem},
		{"POST /api/v1/overwatch/validate", "/v1/overwatch/validate?service=" + f.app, "", 200,
			each("results[].", "service:s address:s port:i healthy:b latency_ms:n error:s?") + " checked:i"},
		{"GET /api/v1/overwatch/conditions", "", "", 200, "status:s{healthy|degraded|unhealthy} " +
			each("conditions[].", "kind:s severity:s{attention|degraded|unhealthy} subject:s sentence:s command:s") +
			shapeListed},
		{"GET /api/v1/overwatch/agents", "", "", 200, each("agents[].", shapeAgent) + " revoked:i expiring:i" + shapeListed},
		{"GET /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + f.agentID, "", 200, shapeAgent},
		{"GET /api/v1/overwatch/agents/expiring", "/v1/overwatch/agents/expiring?threshold_days=3650", "", 200,
			each("expiring[].", shapeAgent) + " count:i threshold_days:i"},
		{"PUT /api/v1/overrides/{service}/{address}", order, `{"healthy":true,"reason":"x",` + planned + `}`, 200,
			shapeOverride},
		{"PATCH /api/v1/overrides/{service}/{address}", order, `{` + planned + `}`, 200, shapeOverride},
		{"PUT /api/v1/overrides/{service}/{address}", order + "?replace_planned=true",
			`{"healthy":true,"reason":"x","source":"y","expires_in":"30m"}`, 200, shapeOverride},
		{"PATCH /api/v1/overrides/{service}/{address}", order, `{"reason":"y"}`, 200, shapeOverride},
		{"GET /api/v1/overrides", "", "", 200, each("overrides[].", shapeOverride) + shapeListed},
		{"GET /api/v1/overrides/{service}/{address}", order, "", 200, shapeOverride},
		{"DELETE /api/v1/overrides/{service}/{address}", order, "", 204, ""},
		{"GET /api/v1/overrides/{service}/{address}", order, "", 404, shapeProblem},
		{"PUT /api/v1/overrides/{service}/{address}", "/v1/overrides/none.example/192.0.2.1", `{"healthy":true,"reason":"x"}`,
			404, shapeProblem},
	}
}
