package api_test

import (
	"gslb.internal/integration/harness/testbed"
)

// agentRows returns the rows about the description of the API, and the end of agents.
func (f fixture) agentRows() []row {
	return []row{
		{"GET /api/v1/openapi.json", "", "", 200, "openapi:s paths:o"},
		{"GET /api/docs", "", "", 200, "page"},
		{"GET /api/docs/docs.js", "", "", 200, "page"},
		{"GET /api/docs/page.js", "", "", 200, "page"},
		{"GET /api/docs/docs.css", "", "", 200, "page"},

		{"POST /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + f.otherID + "/certificate", "", 201,
			"message:s status:s{pending}"},
		{"DELETE /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + f.agentID + "/certificate", "", 204, ""},
		{"POST /api/v1/overwatch/agents/{agent_id}/revoke", "/v1/overwatch/agents/" + f.agentID + "/revoke",
			`{"reason":"x","lock_service":true}`, 200, shapeSuccess + " services:a locked:a next:a"},
		{"DELETE /api/v1/overwatch/agents", "/v1/overwatch/agents?service=" + testbed.AppName + "&never_reported=true", "",
			200, "unpinned:a remaining:i dry_run:b"},
		{"DELETE /api/v1/overwatch/agents", "", "", 400, shapeProblem},
		{"GET /api/v1/overwatch/locks", "", "", 200,
			each("locks[].", "service:s agent_id:s reason:s locked_at:t admits_new:b") + shapeListed},
		{"DELETE /api/v1/overwatch/locks/{service}", "/v1/overwatch/locks/" + testbed.AppName, "", 200, shapeSuccess},
		{"DELETE /api/v1/overwatch/locks/{service}", "/v1/overwatch/locks/" + testbed.AppName, "", 404, shapeProblem},
		{"DELETE /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + f.agentID, "", 200, shapeSuccess},
		{"GET /api/v1/overwatch/agents/{agent_id}", "/v1/overwatch/agents/" + f.agentID, "", 404, shapeProblem},
		{"POST /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + f.agentID + "/certificate", "", 404, shapeProblem},
		{"DELETE /api/v1/nodes/agent/{id}", "/v1/nodes/agent/" + f.agentID, "", 404, shapeProblem},
	}
}
