package api_test

// eventRows returns the rows about events, notifications and the audit log.
func (fixture) eventRows() []row {
	return []row{
		{"GET /api/v1/events", "", "", 200, each("events[].", "sequence:i time:t kind:s state:s "+
			"severity:s{info|warning|error|critical} phase:s{begins|ends|once} subject:s name:s region:s- "+
			"agent_id:s- cause:s sentence:s agent:s check:s changes:i "+
			"audit:i") + " oldest:i newest:i missed:b" + shapeListed},
		{"GET /api/v1/events", "/v1/events?kinds=backends", "", 400, shapeProblem},
		{"GET /api/v1/notifications", "", "", 200, "targets:a total:i " + each("targets[].", "name:s type:s queued:i sent:i "+
			"failed:i dropped:i last_sent:t? last_error:s? failing_since:t?")},
		{"POST /api/v1/notifications/test", "", "", 200, "tests:a total:i " + each("tests[].", "target:s sent:b error:s? "+
			"duration_ms:i")},
		{"POST /api/v1/notifications/test", "/v1/notifications/test?target=nobody", "", 404, shapeProblem},
		{"GET /api/v1/notifications/told", "", "", 200, "sealed:s-"},
		{"GET /api/v1/audit-logs", "", "", 200, each("entries[].", shapeEntry) + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/audit-logs", "/v1/audit-logs?actions=refused&limit=5", "", 200,
			each("entries[].", shapeEntry) + " limit:i offset:i" + shapeListed},
		{"GET /api/v1/audit-logs", "/v1/audit-logs?actions=refuse", "", 400, shapeProblem},
		{"GET /api/v1/audit-logs/{id}", "/v1/audit-logs/1", "", 200, each("entry.", shapeEntry)},
		{"GET /api/v1/audit-logs/{id}", "/v1/audit-logs/999999", "", 404, shapeProblem},
		{"GET /api/v1/audit-logs/stats", "", "", 200,
			each("stats.",
				"total_entries:i entries_last_24h:i entries_last_7d:i by_action:o by_resource:o by_status:o by_actor_type:o "+
					"top_actors[].actor:s top_actors[].count:i retention_days:n oldest_entry:t? newest_entry:t?") + " generated_at:t"},
		{"GET /api/v1/audit-logs/export", "/v1/audit-logs/export?format=json", "", 200, each("entries[].", shapeEntry)},
		{"GET /api/v1/audit-logs/export", "/v1/audit-logs/export?format=json&limit=1", "", 400, shapeProblem},
	}
}

// metricRows returns the rows about metrics.
func (f fixture) metricRows() []row {
	return []row{
		{"GET /api/v1/metrics/overview", "", "", 200,
			each("overview.",
				"timestamp:t uptime_seconds:i queries_total:i queries_per_sec:n health_checks_total:i health_checks_per_sec:n "+
					"active_domains:i active_servers:i healthy_servers:i unhealthy_servers:i stale_servers:i active_regions:i "+
					"overwatch_nodes:i agent_nodes:i dnssec_enabled:b gossip_enabled:b error_rate:n"+shapeUse+shapeTimes)},
		{"GET /api/v1/metrics/history", "", "", 200,
			"data_points:a data_points[].timestamp:t- data_points[].values:o- total:i generated_at:t"},
		{"GET /api/v1/metrics/domains", "/v1/metrics/domains?names=" + f.app, "", 200,
			each("domains[].", "domain:s queries_per_sec:n error_rate:n answer_p99_ms:n? samples:i history:a") + shapeListed},
		{"GET /api/v1/prometheus/targets", "/v1/prometheus/targets?role=backends", "", 200,
			"[].targets:a [].labels:o"},
		{"GET /api/v1/metrics/nodes/{id}", "/v1/metrics/nodes/ow-1", "", 200,
			each("metrics.",
				"node_id:s node_type:s timestamp:t status:s uptime_seconds:i queries_total:i queries_per_sec:n checks_total:i "+
					"checks_per_sec:n error_rate:n"+shapeUse+shapeTimes)},
		{"GET /api/v1/metrics/regions/{id}", "/v1/metrics/regions/eu", "", 200,
			each("metrics.",
				"region_id:s timestamp:t total_servers:i healthy_servers:i queries_total:i queries_per_sec:n error_rate:n "+
					"traffic_percent:n "+shapeTimes)},
		{"GET /api/v1/metrics/routing", "", "", 200,
			each("stats.",
				"timestamp:t total_decisions:i by_algorithm:o by_region:o by_outcome:o geo_routing_hits:i failover_events:i "+
					"avg_decision_time_us:n")},
	}
}
