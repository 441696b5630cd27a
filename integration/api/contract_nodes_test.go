package api_test

// healthRows returns the rows about the health of a node.
func (fixture) healthRows() []row {
	return []row{
		{"GET /api/health", "", "", 200,
			"status:s{healthy|degraded|unhealthy} version:s uptime_seconds:i timestamp:t message:s-"},
		{"GET /api/v1/ready", "", "", 200, "ready:b dns_ready:b health_ready:b message:s-"},
		{"GET /api/v1/live", "", "", 200, "alive:b"},
		{"GET /api/v1/version", "", "", 200, "version:s go_version:s git_commit:s build_date:s"},
		{"GET /api/v1/health/servers", "", "", 200,
			each("servers[].",
				"address:s port:i region:s healthy:b status:s{healthy|unhealthy|unknown} last_check:t? last_healthy:t? "+
					"consecutive_failures:i consecutive_successes:i last_error:s? id:s service:s") + shapeListed},
		{"GET /api/v1/health/regions", "", "", 200,
			each("regions[].", "name:s total_servers:i healthy_count:i unhealthy_count:i health_percent:n") + shapeListed},
	}
}

// nodeRows returns the rows about nodes, announced agents and gossip.
func (f fixture) nodeRows() []row {
	return []row{
		{"GET /api/v1/nodes/overwatch", "/v1/nodes/overwatch?status=online&region=eu", "", 200,
			each("nodes[].", shapeOwNode) + shapeListed},
		{"GET /api/v1/nodes/overwatch/{id}", "/v1/nodes/overwatch/ow-1", "", 200, shapeOwNode},
		{"POST /api/v1/nodes/agent", "", `{"name":"soon","address":"192.0.2.1","port":9100,"region":"eu","version":"1"}`, 201,
			shapeAgentNode},
		{"GET /api/v1/nodes/agent", "/v1/nodes/agent?status=pending&region=eu", "", 200,
			each("nodes[].", shapeAgentNode) + shapeListed},
		{"GET /api/v1/nodes/agent/{id}", "/v1/nodes/agent/" + f.agentID, "", 200, shapeAgentNode},
		{"GET /api/v1/nodes/agent/{id}", "/v1/nodes/agent/nobody", "", 404, shapeProblem},
		{"DELETE /api/v1/nodes/agent/{id}", "/v1/nodes/agent/soon", "", 204, ""},
		{"GET /api/v1/nodes/agent/{id}/certificate", "/v1/nodes/agent/" + f.agentID + "/certificate", "", 200,
			each("certificate.",
				"agent_id:s serial:s not_before:t not_after:t fingerprint:s status:s{valid|not_yet_valid|expired|revoked} "+
					"issued_at:t")},

		{"GET /api/v1/gossip/nodes", "/v1/gossip/nodes?status=alive", "", 200,
			each("nodes[].", shapeGossiper) + shapeListed + " healthy:i"},
		{"GET /api/v1/gossip/nodes/{id}", "/v1/gossip/nodes/ow-1", "", 200, shapeGossiper},
		{"GET /api/v1/gossip/config", "", "", 200, shapeGossip},
		{"PUT /api/v1/gossip/config", "",
			`{"seeds":["127.0.0.1:1"],"cluster_name":"emea","gossip_interval_ms":200,` +
				`"probe_interval_ms":1000,"probe_timeout_ms":400}`, 200,
			shapeGossip},
		{"PATCH /api/v1/gossip/config", "", `{"gossip_interval_ms":300}`, 200, shapeGossip},
		{"DELETE /api/v1/gossip/config", "", "", 204, ""},
		{"POST /api/v1/gossip/generate-key", "", "", 200, "key:s algorithm:s{AES-256-GCM} bits:i"},
	}
}
