package api_test

// Health checks that together have every setting.
const (
	checkHTTPS  = checkHead + `"192.0.2.99"` + checkTail
	checkRegion = checkHead + `null` + checkTail // all servers of a region would be probed at one address
	checkHead   = `{"enabled":true,"type":"https","path":"/x","host":"h.example","address":`
	checkTail   = `,"interval":"9s",` +
		`"fast_interval":"3s","timeout":"2s","healthy_threshold":1,"unhealthy_threshold":4,"server_name":"n.example",` +
		`"insecure_skip_verify":false,"method":"GET","headers":{"X-Test":"1"},"expected_status":"200",` +
		`"body_contains":"ok","body_matches":"o+","ca_certificates":null,"counting":"leaky","send":null,"expect":null,` +
		`"grpc_service":null}`
	checkTCP  = `{"type":"tcp","send":"PING","expect":"PONG"}`
	checkGRPC = `{"type":"grpcs","grpc_service":"g","insecure_skip_verify":true,"send":null,"expect":null}`
)

// serverRows returns the rows about servers.
func (f fixture) serverRows() []row {
	known := "/v1/servers/" + f.app + ":" + f.backendAt
	const mine = "/v1/servers/new.test.gslb.test:192.0.2.9:80"
	const made = "/v1/domains/new.test.gslb.test"
	const named = "/v1/servers/new.test.gslb.test:lb.invalid:80"
	const checked = "/v1/servers/new.test.gslb.test:192.0.2.10:80"
	planned := plannedStart()
	return []row{
		{"POST /api/v1/servers", "",
			`{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"region":"eu","agent":"eu-web-2"}`, 201,
			shapeNamed},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"none.example","address":"192.0.2.9","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "",
			`{"service":"new.test.gslb.test","address":"192.0.2.9","port":80,"weight":1001,"region":"eu"}`, 400, shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","target":"lb.invalid","port":80,"region":"eu",` +
			`"allowed_cidrs":["10.0.0.0/8"],"host":"h.example","health_check":` + checkHTTPS + `}`, 201, shapeNamed},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","target":"192.0.2.300","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.10","port":80,"region":"eu",` +
			`"host":"h.example","health_check":` + checkHTTPS + `}`, 201, shapeNamed},
		{"GET /api/v1/servers/{id}/health-check", checked + "/health-check", "", 200, shapeCheck +
			each(" health_check.", "type:s{https} path:s{/x} host:s{h.example} address:s{192.0.2.99} interval:s{9s} "+
				"fast_interval:s{3s} server_name:s{n.example} method:s{GET} headers.X-Test:s expected_status:s{200} "+
				"body_contains:s{ok} body_matches:s{o+} counting:s{leaky}")},
		{"PUT /api/v1/servers/{id}/health-check", checked + "/health-check", checkTCP, 200,
			shapeCheck + each(" health_check.", "type:s{tcp} send:s expect:s{PONG}")},
		{"PATCH /api/v1/servers/{id}/health-check", checked + "/health-check", checkGRPC, 200,
			shapeCheck + each(" health_check.", "type:s{grpcs} grpc_service:s{g} insecure_skip_verify:b")},
		{"PATCH /api/v1/servers/{id}/health-check", checked + "/health-check", checkHTTPS, 200,
			shapeCheck + each(" health_check.", "type:s{https}")},
		{"PATCH /api/v1/servers/{id}", checked, `{"service":"new.test.gslb.test","address":"192.0.2.10","port":80,` +
			`"target":null,"host":"i.example","health_check":` + checkHTTPS + `}`, 200, shapeNamed},
		{"PATCH /api/v1/servers/{id}", checked, `{"port":81}`, 400, "error:s~port"},
		{"DELETE /api/v1/servers/{id}", checked, "", 204, ""},
		{"POST /api/v1/servers", "", `{"service":"new.test.gslb.test","address":"192.0.2.10","port":80,"region":"eu",` +
			`"health_check":{"enabled":true,"type":"icmp"}}`, 400, "error:s~type"},
		{"GET /api/v1/servers/{id}", checked, "", 404, shapeProblem},
		{"PATCH /api/v1/servers/{id}", named, `{"weight":7,"allowed_cidrs":[]}`, 200, shapeNamed},
		{"GET /api/v1/servers/{id}", named, "", 200, shapeTarget},
		{"GET /api/v1/servers", "", "", 200,
			each("servers[].", shapeServer) + each(" targets[].", shapeTarget) + shapeListed},
		{"DELETE /api/v1/servers/{id}", named, "", 204, ""},
		{"GET /api/v1/servers/{id}", mine, "", 200, shapeServer},
		{"GET /api/v1/servers/{id}", known, "", 200, shapeServer},
		{"GET /api/v1/servers/{id}", "/v1/servers/none.example:192.0.2.1:1", "", 404, shapeProblem},
		{"PATCH /api/v1/servers/{id}", mine, `{"weight":7,"region":"eu"}`, 200, shapeNamed},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":"eu-web-1"}`, 200, shapeNamed},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":"no id"}`, 400, shapeProblem},
		{"PATCH /api/v1/servers/{id}", mine, `{"agent":""}`, 200, shapeNamed},
		{"GET /api/v1/servers/{id}/health-check", mine + "/health-check", "", 200, shapeCheck},
		{"PUT /api/v1/servers/{id}/health-check", mine + "/health-check",
			`{"enabled":true,"type":"http","path":"/x","interval":"8s","timeout":"2s","healthy_threshold":1,` +
				`"unhealthy_threshold":4,"expected_status":"200,301-308"}`, 200, shapeCheck},
		{"PATCH /api/v1/servers/{id}/health-check", mine + "/health-check", `{"interval":"9s"}`, 200, shapeCheck},
		{"PATCH /api/v1/servers/{id}/health-check", mine + "/health-check", `{"enabled":false}`, 200, shapeCheck},
		{"POST /api/v1/servers/{id}/drain", mine + "/drain", `{"share":0.5,"reason":"x","source":"y","expires_in":"1h",` +
			planned + `}`, 202, shapeDrain},
		{"POST /api/v1/servers/{id}/drain", mine + "/drain?replace_planned=true", `{"duration":"1h"}`, 202,
			shapeDrain},
		{"DELETE /api/v1/servers/{id}/drain", mine + "/drain", "", 200, shapeDrain},
		{"DELETE /api/v1/servers/{id}", known, "", 400, shapeProblem},
		{"PATCH /api/v1/servers/{id}", known, `{"weight":7}`, 400, shapeProblem}, // only an agent declares it
		{"DELETE /api/v1/servers/{id}/overlay", known + "/overlay", "", 404, shapeProblem},
		{"DELETE /api/v1/servers/{id}", mine, "", 204, ""},
		{"DELETE /api/v1/domains/{name}", made, "", 204, ""},
	}
}
