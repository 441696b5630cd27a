package api_test

// configRows returns the rows about preferences and settings.
func (fixture) configRows() []row {
	return []row{
		{"GET /api/v1/preferences", "", "", 200, shapeLiked},
		{"PUT /api/v1/preferences", "",
			`{"theme":"dark","language":"de-AT","timezone":"Europe/Vienna","date_format":"DD.MM.YYYY","time_format":"HH:mm",` +
				`"refresh_interval_seconds":0,"notifications_enabled":false,"default_view":"servers","custom_settings":{"a":[1,` +
				`null]}}`, 200, shapeLiked},
		{"PATCH /api/v1/preferences", "", `{"theme":"pink"}`, 400, shapeProblem},
		{"GET /api/v1/config/system", "", "", 200, each("config.",
			"version:s build_info.go_version:s build_info.git_commit:s build_info.build_date:s build_info.platform:s "+
				"mode:s{overwatch} node_id:s node_name:s region:s features:a start_time:t config_path:s data_dir:s")},
		{"GET /api/v1/config/dns", "", "", 200, shapeDnsConfig},
		{"PUT /api/v1/config/dns", "",
			`{"max_udp_size":1400,"default_ttl":45,"min_ttl":5,"max_ttl":600,"negative_ttl":20,` +
				`"rate_limit_enabled":true,"rate_limit_qps":500,"return_last_healthy":true,` +
				`"zones":["test.gslb.test"]}`, 200, shapeDnsConfig},
		{"PATCH /api/v1/config/dns", "", `{"default_ttl":46}`, 200, shapeDnsConfig},
		{"DELETE /api/v1/config/dns", "", "", 204, ""},
		{"GET /api/v1/config/health-check", "", "", 200, shapeChecks},
		{"PUT /api/v1/config/health-check", "",
			`{"default_interval_seconds":9,"default_timeout_seconds":2.5,"validation_enabled":true,"healthy_threshold":3,` +
				`"unhealthy_threshold":4,"max_concurrent_checks":500}`, 200, shapeChecks},
		{"PATCH /api/v1/config/health-check", "", `{"max_concurrent_checks":0}`, 400, shapeProblem},
		{"DELETE /api/v1/config/health-check", "", "", 204, ""},
		{"GET /api/v1/config/logging", "", "", 200, shapeLogged},
		{"PUT /api/v1/config/logging", "", `{"level":"debug","format":"json"}`, 200, shapeLogged},
		{"PATCH /api/v1/config/logging", "", `{"level":"loud"}`, 400, shapeProblem},
		{"DELETE /api/v1/config/logging", "", "", 204, ""},
		{"POST /api/v1/config/validate", "", "mode: agent", 200,
			"valid:b " + each("errors[].", "line:i key:s value:s message:s")},
		{"POST /api/v1/config/reload", "", "", 200, "reloaded:b changes:a restart_required:a"},
	}
}
