package api_test

// domainSettings and moreDomainSettings together have all fields of a change of a domain.
const (
	domainSettings = `{"name":"new.test.gslb.test","ttl":30,"proximity_tolerance_km":0,"client_hash_ipv4_prefix":32,` +
		`"client_hash_ipv6_prefix":64,"https":{"alpn":[],"port":0,"ech":""},"srv":[],` +
		`"min_healthy":"50%","dnssec_enabled":true,"enabled":true,"description":"",` +
		`"answer":"address","regions":["eu"],"tags":[],"routing_policy":"proximity","fallback_algorithm":"weighted"}`
	moreDomainSettings = `{"routing_algorithm":"latency","max_answers":4,"on_all_down":"last_healthy","geofence":"strict",` +
		`"failover_threshold":1,"latency_config":{"smoothing_factor":1,"max_latency_ms":80,"min_samples":1,` +
		`"tolerance_ms":0},"brake":{"enabled":true,"share":"50%","window":"1m","hold":"1h"},"recovery":{"ramp":"0s"},` +
		`"flap":{"delay":"0s","max_delay":"0s"},"failback":{"after":"5m"}}`
)

// domainRows returns the rows about domains and their backends.
func (f fixture) domainRows() []row {
	const made = "/v1/domains/new.test.gslb.test"
	const tuned = " fallback_algorithm:s{client-hash} min_healthy:s{1} proximity_tolerance_km:n " +
		"client_hash_ipv4_prefix:i client_hash_ipv6_prefix:i https.alpn:a https.port:i https.ech:s srv:a max_answers:i " +
		"on_all_down:s{all} geofence:s{strict} brake.enabled:b brake.share:s{40%} brake.window:s{30s} brake.hold:s{5m0s} " +
		"recovery.ramp:s{30s} flap.delay:s{1m0s} flap.max_delay:s{2h0m0s} failback:s{manual}"
	return []row{
		{"POST /api/v1/domains", "",
			`{"name":"new.test.gslb.test","ttl":20,"routing_policy":"proximity","fallback_algorithm":"client-hash",` +
				`"min_healthy":"1","proximity_tolerance_km":50.5,"client_hash_ipv4_prefix":20,"client_hash_ipv6_prefix":48,` +
				`"max_answers":3,"on_all_down":"all","geofence":"strict","failover_threshold":2,"latency_config":{"smoothing_factor":0.5,` +
				`"max_latency_ms":90,"min_samples":9,"tolerance_ms":7},"recovery":{"ramp":"30s"},` +
				`"flap":{"delay":"1m","max_delay":"2h"},"failback":"manual",` +
				`"brake":{"enabled":false,"share":"40%",` +
				`"window":"30s","hold":"5m"},"https":{"alpn":["h2"],"port":8443,"ech":"AAMBAgM="},"srv":["_sip._tcp"],` +
				`"dnssec_enabled":true,"enabled":true,"description":"x","answer":"address","regions":["eu"],"tags":["shop"]}`, 201,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings+tuned)},
		{"POST /api/v1/domains", "", `{"name":"new.test.gslb.test"}`, 409, shapeProblem},
		{"POST /api/v1/domains", "", `{"name":"x.test.gslb.test","routing_algorithm":"nearest"}`, 400, "error:s~proximity"},
		{"POST /api/v1/domains", "", `{"name":"` + f.app + `"}`, 409, shapeProblem},
		{"GET /api/v1/domains", "", "", 200, each("domains[].", shapeDomain+shapeMore+optional(shapeSettings)) + shapeListed},
		{"GET /api/v1/domains", "/v1/domains?tag=shop", "", 200,
			each("domains[].", shapeDomain+shapeMore+optional(shapeSettings)) + shapeListed},
		{"GET /api/v1/domains/{name}", made, "", 200, each("domain.", shapeDomain+shapeMore+" "+shapeSettings+tuned)},
		{"GET /api/v1/domains/{name}", "/v1/domains/none.example", "", 404, shapeProblem},
		{"POST /api/v1/domains/{name}/plan", made + "/plan", domainSettings, 200, shapePlan},
		{"PUT /api/v1/domains/{name}", made, domainSettings, 200,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings)},
		{"POST /api/v1/domains/{name}/plan", made + "/plan", moreDomainSettings, 200, shapePlan},
		{"PUT /api/v1/domains/{name}", made, moreDomainSettings, 200,
			each("domain.", shapeDomain+shapeMore+" routing_policy:s{latency} routing_algorithm:s{latency} "+
				"on_all_down:s{last_healthy} brake.hold:s{1h0m0s}")},
		{"POST /api/v1/domains/{name}/plan", "/v1/domains/" + f.app + "/plan", `{"ttl":31}`, 200, shapePlan},
		{"POST /api/v1/domains/{name}/plan", "/v1/domains/" + f.app + "/plan", `{"ttl":0}`, 400, "error:s~ttl"},
		{"POST /api/v1/domains/{name}/plan", "/v1/domains/none.example/plan", `{"ttl":31}`, 404, shapeProblem},
		{"PUT /api/v1/domains/{name}", "/v1/domains/" + f.app, `{"ttl":31}`, 200,
			each("domain.", shapeDomain+shapeMore+" "+shapeSettings+" overlay.fields:o overlay.configured:o overlay.by:s")},
		{"PATCH /api/v1/domains/{name}", "/v1/domains/" + f.app, `{"ttl":0}`, 400, "error:s~ttl"},
		{"GET /api/v1/config/overlays", "", "", 200, each("overlays[].", "kind:s{domain} id:s fields:o configured:o by:s "+
			"updated_at:t in_force:b reason:s-") + shapeListed},
		{"DELETE /api/v1/domains/{name}/overlay", "/v1/domains/" + f.app + "/overlay", "", 204, ""},
		{"DELETE /api/v1/domains/{name}/overlay", "/v1/domains/" + f.app + "/overlay", "", 404, "error:s~overlay"},
		{"DELETE /api/v1/domains/{name}", "/v1/domains/" + f.app, "", 400, shapeProblem},
		{"PATCH /api/v1/domains/{name}", made,
			`{"ttl":25,"answer":"address","fallback_algorithm":"","routing_policy":"round-robin","min_healthy":""}`, 200,
			each("domain.", shapeDomain)},
		{"PATCH /api/v1/domains/{name}", made, `{"ttl":null,"on_all_down":null,"latency_config":null,"brake":null}`, 200,
			each("domain.", shapeDomain+shapeMore)},
		{"PATCH /api/v1/domains/{name}", made, `{"ttl":0}`, 400, "error:s~ttl"},
		{"PATCH /api/v1/domains/{name}", made, `{"routing_policy":"nearest"}`, 400, "error:s~proximity"},
		{"PATCH /api/v1/domains/{name}", made, `{"routing_policy":"latency","fallback_algorithm":"none"}`, 400,
			"error:s~fallback_algorithm"},
		{"PATCH /api/v1/domains/{name}", made, `{"max_answers":0}`, 400, "error:s~max_answers"},
		{"PATCH /api/v1/domains/{name}", made, `{"on_all_down":"some"}`, 400, "error:s~on_all_down"},
		{"PATCH /api/v1/domains/{name}", made, `{"geofence":"lax"}`, 400, "error:s~geofence"},
		{"PATCH /api/v1/domains/{name}", made, `{"failover_threshold":0}`, 400, "error:s~failover_threshold"},
		{"PATCH /api/v1/domains/{name}", made, `{"latency_config":{"smoothing_factor":2}}`, 400, "error:s~smoothing_factor"},
		{"PATCH /api/v1/domains/{name}", made, `{"brake":{"share":"101%"}}`, 400, "error:s~brake.share"},
		{"PATCH /api/v1/domains/{name}", made, `{"min_healthy":"101%"}`, 400, "error:s~min_healthy"},
		{"PATCH /api/v1/domains/{name}", made, `{"proximity_tolerance_km":-1}`, 400, "error:s~proximity_tolerance_km"},
		{"PATCH /api/v1/domains/{name}", made, `{"client_hash_ipv4_prefix":33}`, 400, "error:s~client_hash_ipv4_prefix"},
		{"PATCH /api/v1/domains/{name}", made, `{"client_hash_ipv6_prefix":65}`, 400, "error:s~client_hash_ipv6_prefix"},
		{"PATCH /api/v1/domains/{name}", made, `{"dnssec_enabled":false}`, 400, "error:s~zone:"},
		{"PATCH /api/v1/domains/{name}", made, `{"regions":["mars"]}`, 400, "error:s~mars"},
		{"POST /api/v1/domains/{name}/backends", made + "/backends",
			`{"service":"new.test.gslb.test","address":"192.0.2.8","target":null,"allowed_cidrs":[],"port":80,"weight":5,` +
				`"region":"eu","agent":"","host":"h.example","health_check":` + checkHTTPS + `}`, 201, shapeNamed},
		{"POST /api/v1/domains/{name}/backends", made + "/backends", `{"address":"192.0.2.8","port":80,"region":"eu"}`, 400,
			shapeProblem},
		{"POST /api/v1/domains/{name}/backends", "/v1/domains/none.example/backends",
			`{"address":"192.0.2.8","port":80,"region":"eu"}`, 400, shapeProblem},
		{"GET /api/v1/domains/{name}/backends", made + "/backends", "", 200,
			each("backends[].", shapeWeightOverride+
				"id:s address:s port:i weight:i priority:i region:s healthy:b enabled:b last_check:t?") +
				shapeListed},
		{"DELETE /api/v1/domains/{name}/backends/{id}", made + "/backends/new.test.gslb.test:192.0.2.8:80", "", 204, ""},
		{"DELETE /api/v1/domains/{name}/backends/{id}", made + "/backends/new.test.gslb.test:192.0.2.8:80", "", 404,
			shapeProblem},
	}
}
