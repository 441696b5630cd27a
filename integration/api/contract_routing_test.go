package api_test

import (
	"gslb.internal/integration/harness/testbed"
)

// routingRows returns the rows about routing and documents.
func (f fixture) routingRows() []row {
	explained := shapeDecision + " " + shapeFactors + " " + each("selected_backend.", shapeRouted) + " " +
		optional(each("alternatives[].", shapeRouted))
	return []row{
		{"GET /api/v1/routing/algorithms", "", "", 200, each("algorithms[].", shapeAlgorithm) + shapeListed},
		{"GET /api/v1/routing/algorithms/{id}", "/v1/routing/algorithms/weighted", "", 200,
			each("algorithm.", shapeAlgorithm)},
		{"GET /api/v1/routing/algorithms/{id}", "/v1/routing/algorithms/best", "", 404, shapeProblem},
		{"POST /api/v1/routing/test", "", `{"domain":"` + f.app +
			`","client_ip":"198.51.100.7","query_type":"A","edns":{"client_subnet":"203.0.113.0/24"}}`, 200,
			each("result.", explained)},
		{"POST /api/v1/routing/test", "", `{"domain":"` + f.app +
			`","client_ip":"198.51.100.7","edns":{"client_subnet":"203.0.113.7/24"}}`, 400, "error:s~client_subnet"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + f.app + `","client_ip":"here"}`, 400, "error:s~client_ip"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + f.app + `","client_ip":"198.51.100.7","query_type":"MX"}`, 400,
			"error:s~HTTPS"},
		{"POST /api/v1/routing/test", "", `{"domain":"` + f.app + `","place":{"latitude":50.1,"longitude":8.7}}`, 400,
			"error:s~database_path"},
		{"POST /api/v1/routing/consequences", "", `{"backends":["` + f.app + `:192.0.2.99:80"],"regions":["nowhere"],` +
			`"agents":["` +
			f.agentID + `","` + f.otherID + `"],"removed":true}`, 200,
			optional(each("names[].", "name:s answer:s{none|last_resort|zero_weight} query_types:a serving:i minimum:i")) +
				shapeListed},
		{"POST /api/v1/routing/consequences", "", `{"backends":["` + f.app + `:192.0.2.99:80"],"zero_weight":true}`, 200,
			"names:a" + shapeListed},
		{"POST /api/v1/routing/consequences", "", `{}`, 400, "error:s~backends"},
		{"POST /api/v1/config/plan", "", wholeConfig, 200, shapePlan},
		{"POST /api/v1/config/plan", "", "mode: overwatch\nnonsense: 1\n", 400, "error:s~nonsense"},
		{"POST /api/v1/document/plan", "", wholeDocument, 200, shapePlan},
		{"POST /api/v1/document/plan", "", `{"document":{"domains":[{"name":"plan.test.gslb.test","ttl":0}]}}`, 400,
			"error:s~ttl problems[].object:s problems[].problem:s"},
		{"POST /api/v1/document/apply", "", wholeDocument, 200, shapePlan},
		{"GET /api/v1/document", "", "", 200, shapeDocument},
		{"POST /api/v1/document/apply", "", `{"document":{},"owner":"test","prune":true}`, 200, shapePlan},
		{"GET /api/v1/routing/decisions", "", "", 200,
			each("decisions[].",
				"id:s timestamp:t domain:s query_type:s{A|AAAA} client_subnet:s client_region:s algorithm:s selected_server:s "+
					"selected_region:s outcome:s snapshot_generation:i") + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/routing/decisions/{id}", "/v1/routing/decisions/" + f.decision, "", 200, each("result.", explained)},
		{"GET /api/v1/routing/decisions/{id}", "/v1/routing/decisions/999999", "", 404, shapeProblem},
		{"GET /api/v1/routing/flows", "", "", 200, "flows:a " + each("flows[].",
			"source_region:s- destination_region:s- domain:s- request_count:i- share:n- timestamp:t-") + " uncounted:i" +
			shapeListed},
		{"GET /api/v1/routing/answers", "/v1/routing/answers?domain=" + testbed.AppName, "", 200,
			"domain:s query_type:s{A|AAAA} snapshot_generation:i answers[].client_region:s answers[].everybody:b " +
				"answers[].decision:s answers[].algorithm:s answers[].ttl:i answers[].addresses[].address:s " +
				"answers[].addresses[].share:n" + shapeListed},
		{"GET /api/v1/routing/answers", "/v1/routing/answers?domain=nx.invalid", "", 404, shapeProblem},
	}
}
